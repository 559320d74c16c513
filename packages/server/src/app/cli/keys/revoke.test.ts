import { createAction, getAuditLog } from '@kith/protocol'
import { expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { openLineBesideServer } from '#harness/line-beside-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer } from '#harness/test-server.ts'
import { systemClock } from '#lib/clock.ts'

const baseTag = 'home.localhost'

test('distrusts the current key beside a running server, which signs with another at once', async () => {
  await using beside = await openLineBesideServer()
  const { line, server } = beside
  const published = async () => {
    const answer = await server.request(baseTag, '/.well-known/service/id-tag')
    return ((await answer.json()) as { data: { keys: { kid: string; revokedAt?: number }[] } }).data.keys
  }
  const client = await server.as(baseTag)
  const [old] = await published()
  const kid = old?.kid ?? ''

  const since = '2026-01-31T12:00:00Z'
  const { exitCode, out, err } = await line.run(['keys', 'revoke', baseTag, kid, '--since', since, '--json'])
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
  const printed = JSON.parse(out)
  expect(printed).toEqual({
    idTag: baseTag,
    kid,
    revokedAt: Date.parse(since) / 1000,
    isRotated: true,
    current: {
      kid: expect.stringMatching(/^\d{8}.{4}$/),
      publicKey: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----/),
    },
  })
  expect(out).not.toContain('PRIVATE')
  const [current, retired] = await published()
  expect(current).toMatchObject({ kid: printed.current.kid })
  expect(current).not.toHaveProperty('revokedAt')
  expect(retired).toMatchObject({
    kid,
    revokedAt: Date.parse(since) / 1000,
    expiresAt: expect.any(Number),
  })
  const { data } = await client.call(createAction, { body: { type: 'POST', content: { text: 'signed' } } })
  const [header = ''] = (await server.tokenOf(baseTag, data.actionId)).split('.')
  expect(JSON.parse(Buffer.from(header, 'base64url').toString()).kid).toBe(printed.current.kid)
  const entries = (await client.call(getAuditLog, {})).data
  expect(entries).toContainEqual(expect.objectContaining({ event: 'keys.revoked' }))
})

test('moves a revocation to an earlier time, never to a later one, and rotates no second time', async () => {
  await using line = await CommandLine.open()
  await using server = await TestServer.start({
    dataDir: line.dataDir,
    clock: new TestClock(systemClock.now()),
  })
  const [key] = await server.running.services.signingKeys.list(
    (await server.running.features.identity.tenants.find(baseTag as never))!.tenantId,
  )
  const revoke = async (since: string) => {
    const { out } = await line.run(['keys', 'revoke', baseTag, key?.kid ?? '', '--since', since, '--json'])
    const { revokedAt, isRotated } = JSON.parse(out)
    return { revokedAt, isRotated }
  }
  expect(await revoke('1700000000')).toEqual({ revokedAt: 1_700_000_000, isRotated: true })
  expect(await revoke('1600000000')).toEqual({ revokedAt: 1_600_000_000, isRotated: false })
  expect(await revoke('1650000000')).toEqual({ revokedAt: 1_600_000_000, isRotated: false })
  const text = await line.run(['keys', 'revoke', baseTag, key?.kid ?? ''])
  expect(text.out).toMatch(/^The key \S+ is distrusted since 2020-09-13T12:26:40.000Z\.\n$/)
})

test('fails for nobody, for a key that never was, and for what is no time', async () => {
  await using line = await CommandLine.open()
  await (await TestServer.start({ dataDir: line.dataDir })).stop()
  const ran = async (...words: string[]) => {
    const { exitCode, out, err } = await line.run(['keys', 'revoke', ...words])
    return { exitCode, out, err }
  }
  expect(await ran('nobody.localhost', '20260101abcd')).toMatchObject({
    exitCode: 1,
    out: '',
    err: 'There is no tenant nobody.localhost on this server.\n',
  })
  expect(await ran(baseTag, '20260101abcd')).toMatchObject({
    exitCode: 1,
    err: 'home.localhost never had a key 20260101abcd.\n',
  })
  for (const words of [
    [baseTag],
    ['nobody', 'x'],
    [baseTag, 'x', '--since', 'yesterday'],
    [baseTag, 'x', '--since', '2999-01-01T00:00:00Z'],
  ])
    expect(await ran(...words)).toMatchObject({ exitCode: 2, out: '' })
})
