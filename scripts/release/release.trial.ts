import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { Installation } from './installation.ts'

const root = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const mostBytes = 200_000_000
const nextCommit = 'f'.repeat(40)

let folder: string
let archive: string
let place: Installation
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-release-'))
  archive = inject('archive')
  place = await Installation.make(join(folder, 'opt'))
  await place.unpack(archive, 'first')
  await place.makeNext('first', 'next', nextCommit)
  await place.switchTo('first')
})
afterAll(async () => {
  await place?.stop('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

async function filesOf(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

describe('the archive', () => {
  test('fits its checksum', async () => {
    const { stdout } = await run('sha256sum', ['--check', `${archive}.sha256`], { cwd: join(archive, '..') })
    expect(stdout).toMatch(/: OK\n$/)
  })

  test('holds what a server runs on, and nothing for developers of it', async () => {
    const files = await filesOf(place.releaseAt('first'))
    const sizes = await Promise.all(files.map(async (path) => (await stat(path)).size))
    const total = sizes.reduce((sum, size) => sum + size, 0)
    console.log(`${archive}: ${(await stat(archive)).size} bytes, ${total} unpacked, ${files.length} files`)
    expect(total).toBeLessThan(mostBytes)
    expect(files.filter((path) => /\.d\.[cm]?ts$|\.map$|\.test\.ts$|\.h$/.test(path))).toEqual([])
    expect(files.filter((path) => path.includes(root))).toEqual([])
  })

  test('names no folder of the machine that made it', async () => {
    const library = join(place.releaseAt('first'), 'packages/server/lib')
    const texts = await Promise.all((await filesOf(library)).map((path) => readFile(path, 'utf8')))
    expect(texts.filter((text) => text.includes(`${root}/`))).toEqual([])
  })

  test('has the command for apps', async () => {
    await place.kith('app', 'init', join(folder, 'notes'), '--template', 'todo')
    const { file } = JSON.parse(await place.kith('app', 'pack', join(folder, 'notes'), '--json'))
    expect(existsSync(file)).toBe(true)
  })
})

/** Publishes one action after the other, through restarts, and remembers those that were acknowledged. */
class Load {
  readonly acknowledged: string[] = []
  readonly #headers: Record<string, string>
  #isOver = false
  readonly #ended: Promise<void>

  constructor(headers: Record<string, string>) {
    this.#headers = headers
    this.#ended = this.#run()
  }

  async until(count: number): Promise<void> {
    while (this.acknowledged.length < count) await pause(20)
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#ended
  }

  async #run(): Promise<void> {
    for (let at = 1; !this.#isOver; at += 1) {
      const body = JSON.stringify({ type: 'POST', content: { text: `Number ${at}` }, visibility: 'P' })
      const id = await place
        .send('/api/actions', { method: 'POST', headers: this.#headers, body })
        .then(async (response) =>
          response.ok ? ((await response.json()) as Created).data.actionId : undefined,
        )
        .catch(() => undefined)
      if (id === undefined) await pause(20)
      else this.acknowledged.push(id)
    }
  }
}

interface Created {
  readonly data: { readonly actionId: string }
}

async function missingOf(ids: readonly string[]): Promise<string[]> {
  const headers = await place.signIn()
  const missing: string[] = []
  for (const id of ids)
    if ((await place.send(`/api/actions/${id}`, { headers })).status !== 200) missing.push(id)
  return missing
}

async function commitOf(): Promise<string | undefined> {
  const { data } = (await (await place.send('/api/me')).json()) as {
    data: { serverInfo: { commit?: string } }
  }
  return data.serverInfo.commit
}

describe('an upgrade under load, and the way back', () => {
  let load: Load
  let headers: Record<string, string>
  let beforeUpgrade: string[]

  test('the next release lies beside the one that runs, which needs nothing of it', async () => {
    await place.start()
    headers = await place.signIn()
    load = new Load(headers)
    await load.until(50)
    await place.switchTo('next')
    // Each is read, or imported, when it is first asked for.
    for (const path of [
      '/api/docs',
      '/api/docs/swagger-ui.css',
      '/api/openapi.json',
      '/login',
      '/assets/qr.js',
    ])
      expect({ path, status: (await place.send(path)).status }).toEqual({ path, status: 200 })
    const picture = await readFile(join(root, 'packages/server/test/fixtures/images/photo.jpg'))
    const upload = { method: 'POST', headers: { ...headers, 'content-type': 'image/jpeg' }, body: picture }
    expect((await place.send('/api/files/default/photo.jpg', upload)).ok).toBe(true)
    expect(await commitOf()).not.toBe(nextCommit)
    await load.until(100)
  })

  test('what was acknowledged before, meanwhile and after is there', async () => {
    beforeUpgrade = [...load.acknowledged]
    expect(await place.stop()).toBe(0)
    await place.start()
    expect(await commitOf()).toBe(nextCommit)
    await load.until(beforeUpgrade.length + 100)
    await load.end()
    expect(await missingOf(load.acknowledged)).toEqual([])
    const { ok, checks } = JSON.parse(await place.kith('doctor', '--json'))
    expect(ok).toBe(true)
    expect(JSON.stringify(checks)).toContain(nextCommit.slice(0, 12))
  })

  test('the former release refuses the database, and goes on with the copy', async () => {
    expect(await place.stop()).toBe(0)
    await place.switchTo('first')
    const refusal = await place.start().catch((error: Error) => error.message)
    expect(refusal).toMatch(
      /it ended with 1: .*9999_trial.*put back the copy from before the upgrade, (\S+?);/,
    )
    const [, copy = ''] = /before the upgrade, (\S+?);/.exec(String(refusal)) ?? []
    for (const end of ['-wal', '-shm']) await rm(join(place.dataDir, `kith.db${end}`), { force: true })
    await rename(join(place.dataDir, 'kith.db'), join(place.dataDir, 'kith.db.newer'))
    await rename(copy, join(place.dataDir, 'kith.db'))
    await place.start()
    expect(await missingOf(beforeUpgrade)).toEqual([])
    expect(JSON.parse(await place.kith('doctor', '--json')).ok).toBe(true)
  })
})
