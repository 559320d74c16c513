import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError } from '#infra/config/index.ts'
import { Secret } from '#lib/secret.ts'
import { loadMasterKey } from './index.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kith-key-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const own = (path = join(folder, 'data', 'master.key')) => ({ kind: 'file', path, generated: true }) as const
const mounted = (path = join(folder, 'mounted.key')) => ({ kind: 'file', path, generated: false }) as const
const bytes = Buffer.alloc(32, 9)

async function problemOf(loading: Promise<unknown>): Promise<string> {
  const error: unknown = await loading.catch((reason: unknown) => reason)
  if (!(error instanceof ConfigError)) throw new Error('no problem was told', { cause: error })
  return error.problems.map(({ variable, message }) => `${variable} ${message}`).join()
}

describe('the server’s own file', () => {
  test('is made on the first start and read on the next', async () => {
    const first = await loadMasterKey(own())
    expect(first.symmetricKeySize).toBe(32)
    expect(statSync(own().path).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(folder, 'data'))).toEqual(['master.key'])
    expect((await loadMasterKey(own())).equals(first)).toBe(true)
  })

  test('is another one on another server', async () => {
    const first = await loadMasterKey(own(join(folder, 'a')))
    expect((await loadMasterKey(own(join(folder, 'b')))).equals(first)).toBe(false)
  })

  test('is one file however many start at once', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => loadMasterKey(own())))
    const onDisk = await loadMasterKey(own())
    expect(keys.every((key) => key.equals(onDisk))).toBe(true)
  })

  test('that cannot be made is told', async () => {
    writeFileSync(join(folder, 'data'), 'a file in the way')
    expect(await problemOf(loadMasterKey(own()))).toMatch(/MASTER_KEY_FILE cannot be (made|read) \(E/)
  })
})

describe('a file', () => {
  test.each(['base64', 'base64url', 'hex'] as const)('may hold the key in %s', async (encoding) => {
    writeFileSync(mounted().path, `${bytes.toString(encoding)}\n`, { mode: 0o400 })
    expect((await loadMasterKey(mounted())).export()).toEqual(bytes)
  })

  test('may be readable by its group', async () => {
    writeFileSync(mounted().path, bytes.toString('hex'))
    chmodSync(mounted().path, 0o640)
    expect((await loadMasterKey(mounted())).export()).toEqual(bytes)
  })

  test.each([0o644, 0o604, 0o602, 0o666])('that everybody may use (%o) is refused', async (mode) => {
    writeFileSync(mounted().path, bytes.toString('hex'))
    chmodSync(mounted().path, mode)
    expect(await problemOf(loadMasterKey(mounted()))).toContain('chmod 600')
  })

  test('that is absent is not made where somebody else should have put it', async () => {
    expect(await problemOf(loadMasterKey(mounted()))).toMatch(/MASTER_KEY_FILE does not exist/)
    expect(readdirSync(folder)).toEqual([])
  })

  test.each([
    ['nothing', ''],
    ['half a key', bytes.subarray(16).toString('hex')],
    ['a word', 'hunter22'],
  ])('that holds %s is refused and left as it is', async (_, content) => {
    writeFileSync(mounted().path, content, { mode: 0o600 })
    const problem = await problemOf(loadMasterKey({ ...mounted(), generated: true }))
    expect(problem).toContain('MASTER_KEY_FILE does not hold 32 bytes')
    expect(problem).not.toContain('hunter22')
    expect(readFileSync(mounted().path, 'utf8')).toBe(content)
  })
})

describe('a value', () => {
  test('is the key', async () => {
    const text = new Secret(bytes.toString('base64'))
    expect((await loadMasterKey({ kind: 'value', text })).export()).toEqual(bytes)
    expect(readdirSync(folder)).toEqual([])
  })

  test('of another length is refused', async () => {
    const problem = await problemOf(loadMasterKey({ kind: 'value', text: new Secret('hunter22') }))
    expect(problem).toBe('MASTER_KEY is not 32 bytes')
  })
})
