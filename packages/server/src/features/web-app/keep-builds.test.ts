import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { writeWebBuild } from '#harness/web-build.ts'
import type { RawVisit } from '#infra/http/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { openWebApp, type WebApp } from './index.ts'

let folder: string
let clock: TestClock
beforeEach(async () => {
  clock = new TestClock()
  folder = await mkdtemp(join(tmpdir(), 'kith-web-'))
})
afterEach(() => rm(folder, { recursive: true }))

const dist = () => join(folder, 'dist')
const home = () => join(folder, 'web')
const request = { method: 'GET', headers: {} } as RawVisit['request']
const open = () => openWebApp({ dist: dist(), home: home(), clock, logger: silentLogger })

async function startWith(name: string): Promise<WebApp | undefined> {
  await writeWebBuild(dist(), name)
  await clock.advance(60_000)
  return await open()
}

async function served(app: WebApp | undefined, ...names: string[]): Promise<string[]> {
  const found = await Promise.all(names.map(async (name) => await app?.findAsset(request, `app-${name}.js`)))
  return names.filter((_, at) => found[at])
}

test('the files of the two former builds stay served, older ones go', async () => {
  await startWith('a')
  await startWith('b')
  const app = await startWith('c')
  expect(await served(app, 'a', 'b', 'c')).toEqual(['a', 'b', 'c'])
  const next = await startWith('d')
  expect(await served(next, 'a', 'b', 'c', 'd')).toEqual(['b', 'c', 'd'])
  expect(await readdir(home())).toHaveLength(3)
})

test('a build that comes back is the newest again', async () => {
  for (const name of ['a', 'b', 'a', 'c', 'd']) await startWith(name)
  expect(await served(await open(), 'a', 'b', 'c', 'd')).toEqual(['a', 'c', 'd'])
})

test('what a crash has left in between is removed, and a build that lacks a file is copied anew', async () => {
  await startWith('a')
  const [id = ''] = await readdir(home())
  const draft = join(home(), `${id}.0b0b`)
  await mkdir(draft)
  await writeFile(join(draft, 'app-a.js'), 'half')
  await rm(join(home(), id, 'app-a.js'))
  const app = await open()
  expect(await readdir(home())).toEqual([id])
  expect(await readFile(join(home(), id, 'app-a.js'), 'utf8')).toContain("'a'")
  expect(await served(app, 'a')).toEqual(['a'])
})

test('nobody else on the machine reads or writes what is kept', async () => {
  await startWith('a')
  const [id = ''] = await readdir(home())
  const modes = await Promise.all(
    [home(), join(home(), id), join(home(), id, 'app-a.js')].map(async (path) => (await stat(path)).mode),
  )
  expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o700, 0o600])
})

test('a build that is written anew while the server runs takes no file from it', async () => {
  const app = await startWith('a')
  await writeWebBuild(dist(), 'b')
  expect(await served(app, 'a')).toEqual(['a'])
})

test('where nothing can be kept the build is served all the same', async () => {
  await writeWebBuild(dist(), 'a')
  await writeFile(home(), 'a file in the place of the folder')
  expect(await served(await open(), 'a')).toEqual(['a'])
})

test('without its document, or without a file that it names, a folder is no build', async () => {
  expect(await open()).toBeUndefined()
  await writeWebBuild(dist(), 'a')
  await rm(join(dist(), 'assets/app-a.js'))
  expect(await open()).toBeUndefined()
})
