import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAction, getMe, listActions } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { TestServer } from '#harness/test-server.ts'

const aliceTag = 'alice.localhost'
let here: CommandLine
let file: string

beforeAll(async () => {
  here = await CommandLine.open()
  file = join(here.folder, 'alice.tar')
  await using server = await TestServer.start({ dataDir: here.dataDir })
  await server.createTenant(aliceTag)
  const client = await server.as(aliceTag)
  await client.call(createAction, { body: { type: 'POST', content: { text: 'moved' } } })
  await server.settle()
})
afterAll(() => here[Symbol.asyncDispose]())

test('export and import bring a tenant to a server that was never started', async () => {
  const exported = await here.json('export', aliceTag, '--to', file)
  expect(exported).toEqual({
    idTag: aliceTag,
    path: file,
    bytes: (await readFile(file)).length,
    withKeys: false,
    rows: expect.any(Number),
    jobs: expect.any(Number),
    blobs: { count: 0, bytes: 0 },
  })
  await using there = await CommandLine.open()
  const { exitCode, out, err } = await there.run(['import', file])
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
  expect(out).toMatch(/^alice\.localhost lives here now: \d+ rows, .* It has a new signing key\.\n$/)
  await using server = await TestServer.start({ dataDir: there.dataDir })
  const client = await server.as(aliceTag)
  expect((await client.call(getMe, {})).data.idTag).toBe(aliceTag)
  expect((await client.call(listActions, { query: {} })).data[0]?.content).toEqual({ text: 'moved' })
  expect(await there.fails('import', file)).toMatchObject({ exitCode: 1, code: 'E-PROFILE-EXISTS' })
})

describe('export', () => {
  test('says what a file with keys is worth', async () => {
    const path = join(here.folder, 'with-keys.tar')
    const { out } = await here.run(['export', aliceTag, '--to', path, '--with-keys'])
    expect(out).toContain('It holds the private keys: this file is enough to act as the tenant.')
  })

  test('replaces no file, and leaves none of nobody', async () => {
    const before = (await readdir(here.folder)).sort()
    expect(await here.fails('export', aliceTag, '--to', here.dataDir)).toMatchObject({
      exitCode: 1,
      code: 'E-STATE',
    })
    expect(await here.fails('export', 'nobody.localhost')).toMatchObject({
      exitCode: 1,
      code: 'E-PROFILE-NOTFOUND',
    })
    expect(await here.fails('export')).toMatchObject({ exitCode: 2 })
    expect((await readdir(here.folder)).sort()).toEqual(before)
  })

  test('that is interrupted leaves nothing', async () => {
    const path = join(here.folder, 'interrupted.tar')
    const signal = AbortSignal.abort(new Error('enough'))
    expect(await here.run(['export', aliceTag, '--to', path], { signal })).toMatchObject({ exitCode: 1 })
    expect((await readdir(here.folder)).filter((name) => name.includes('interrupted'))).toEqual([])
  })
})

describe('import', () => {
  test('needs a file that is there and is an export', async () => {
    const none = join(here.folder, 'none.tar')
    expect(await here.fails('import')).toMatchObject({ exitCode: 2, message: 'FILE is missing' })
    expect(await here.fails('import', none)).toMatchObject({ exitCode: 1, code: 'E-NOTFOUND' })
    expect(await here.fails('import', join(here.dataDir, 'master.key'))).toMatchObject({
      exitCode: 1,
      code: 'E-VALIDATION',
    })
  })

  test('is refused of who is banned, and of who lives in a blocked domain', async () => {
    await using there = await CommandLine.open()
    await (await TestServer.start({ dataDir: there.dataDir })).stop()
    await there.json('identity', 'set', aliceTag, 'Banned')
    expect(await there.fails('import', file)).toMatchObject({
      exitCode: 1,
      code: 'E-STATE',
      message: expect.stringContaining(`kith identity set ${aliceTag} Active`),
    })
    await there.json('identity', 'set', aliceTag, 'Active')
    await there.json('domain', 'block', aliceTag)
    expect(await there.fails('import', file)).toMatchObject({
      exitCode: 1,
      code: 'E-STATE',
      message: expect.stringContaining(`kith domain unblock ${aliceTag}`),
    })
    await there.json('domain', 'unblock', aliceTag)
    expect((await there.json('import', file)).tenant.idTag).toBe(aliceTag)
  })

  test('is refused where the identity would have no address', async () => {
    await using there = await CommandLine.open({ PUBLIC_URL: 'http://home.localhost' })
    expect(await there.fails('import', file)).toMatchObject({ exitCode: 1, code: 'E-STATE' })
    expect(await there.with({ PUBLIC_URL: '' }).json('tenant', 'list')).toEqual({ tenants: [] })
  })
})
