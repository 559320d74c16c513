import { createAction } from '@kith/protocol'
import { expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer } from '#harness/test-server.ts'
import { systemClock } from '#lib/clock.ts'

const baseTag = 'home.localhost'

test('gives a tenant a new key, with which a running server signs at once', async () => {
  await using line = await CommandLine.open()
  await using server = await TestServer.start({
    dataDir: line.dataDir,
    clock: new TestClock(systemClock.now()),
  })
  const published = async () => {
    const answer = await server.request(baseTag, '/.well-known/service/id-tag')
    return ((await answer.json()) as { data: { keys: { kid: string; expiresAt?: number }[] } }).data.keys
  }
  const client = await server.as(baseTag)
  const kidOfPost = async () => {
    const { data } = await client.call(createAction, { body: { type: 'POST', content: { text: 'signed' } } })
    const [header = ''] = (await server.tokenOf(baseTag, data.actionId)).split('.')
    return JSON.parse(Buffer.from(header, 'base64url').toString()).kid
  }
  const [old] = await published()
  expect(await kidOfPost()).toBe(old?.kid)

  const { exitCode, out, err } = await line.run(['keys', 'rotate', baseTag, '--json'])
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
  const printed = JSON.parse(out)
  expect(printed).toEqual({
    idTag: baseTag,
    kid: expect.stringMatching(/^\d{8}.{4}$/),
    publicKey: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----/),
  })
  expect(out).not.toContain('PRIVATE')
  expect(await kidOfPost()).toBe(printed.kid)
  const [current, retired] = await published()
  expect(current).toMatchObject({ kid: printed.kid })
  expect(current).not.toHaveProperty('expiresAt')
  expect(retired).toMatchObject({ kid: old?.kid, expiresAt: expect.any(Number) })

  const text = await line.run(['keys', 'rotate', baseTag])
  expect(text.out).toMatch(/^home\.localhost signs with the key \S+ from now on\.\n$/)
})

test('fails for nobody, and for what is no identity', async () => {
  await using line = await CommandLine.open()
  await (await TestServer.start({ dataDir: line.dataDir })).stop()
  const unknown = await line.run(['keys', 'rotate', 'nobody.localhost'])
  expect(unknown).toEqual({
    exitCode: 1,
    out: '',
    err: 'There is no tenant nobody.localhost on this server.\n',
  })
  expect((await line.run(['keys', 'rotate', 'nobody'])).exitCode).toBe(2)
})
