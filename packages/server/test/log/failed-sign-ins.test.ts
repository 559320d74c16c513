import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RecordedLog } from '#harness/recorded-log.ts'
import { skipSuite } from '#harness/skip-suite.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const alice = 'alice.localhost'
const secret = 'hunter22-hunter22'
const unknownRef = '0123456789ABCDEFabcdefgh'
const unknownKey = `sk_${'k'.repeat(43)}`
const message = 'sign-in failed'

type Ask = (path: string, body?: object, headers?: Readonly<Record<string, string>>) => Promise<Response>

/** Asks a tenant of a fresh server from an address of the world; answers what was logged. */
async function logOf(format: 'json' | 'pretty', work: (ask: Ask, server: TestServer) => Promise<unknown>) {
  const log = new RecordedLog({ format })
  await using server = await TestServer.start({ logger: log.logger, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  await server.createTenant(alice)
  let asked = 0
  await work((path, body, headers = {}) => {
    asked += 1
    return server.request(alice, path, {
      method: body ? 'POST' : 'GET',
      headers: {
        'x-forwarded-for': `203.0.113.${asked}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  }, server)
  return log
}

const noPart = 'A'.repeat(12)
const passkey = {
  id: noPart,
  rawId: noPart,
  type: 'public-key',
  response: { clientDataJSON: noPart, authenticatorData: noPart, signature: noPart },
}

/** One wrong credential of each kind, from .1 on. */
async function tryAll(ask: Ask, server: TestServer): Promise<void> {
  await ask('/api/auth/login', { idTag: alice, password: secret })
  await ask('/api/auth/login', { idTag: 'nobody.example', password: secret })
  await ask('/api/auth/wa/login', { credential: passkey })
  await ask(`/api/auth/access-token?apiKey=${unknownKey}`)
  await ask('/api/me', undefined, { authorization: `Bearer ${unknownKey}` })
  await ask(`/api/auth/access-token?ref=${unknownRef}`)
  await ask('/api/auth/set-password', { token: unknownRef, password: secret })
  await ask('/api/auth/qr-login/AAAAAAAAAAAAAAAAAAAAAA/status', undefined, { 'x-qr-secret': 'A'.repeat(43) })
  const form = { type: 'idp', idTag: 'x.home.localhost', email: 'x@example.org', token: unknownRef }
  await ask('/api/profiles/register', form, { 'x-forwarded-host': home })
  const token = await server.signIn(alice)
  const change = { currentPassword: secret, newPassword: 'another password' }
  await ask('/api/auth/password', change, { authorization: `Bearer ${token}` })
}

let json: RecordedLog
let pretty: RecordedLog
beforeAll(async () => {
  json = await logOf('json', tryAll)
  pretty = await logOf('pretty', tryAll)
})

describe('failed sign-ins', () => {
  test('are logged with address and method, for unknown identities too', () => {
    const entries = json.of(message).map(({ level, time, msg, ...entry }) => entry)
    expect(entries).toEqual([
      { ip: '203.0.113.1', method: 'password', tenant: alice, idTag: alice },
      { ip: '203.0.113.2', method: 'password', tenant: alice, idTag: 'nobody.example' },
      { ip: '203.0.113.3', method: 'passkey', tenant: alice },
      { ip: '203.0.113.4', method: 'apiKey', tenant: alice },
      { ip: '203.0.113.5', method: 'apiKey', tenant: alice },
      { ip: '203.0.113.6', method: 'reference', tenant: alice },
      { ip: '203.0.113.7', method: 'reference', tenant: alice },
      { ip: '203.0.113.8', method: 'qr', tenant: alice },
      { ip: '203.0.113.9', method: 'reference', tenant: home },
      { ip: '203.0.113.10', method: 'password', tenant: alice, idTag: alice },
    ])
    expect(json.of(message).every(({ level }) => level === 'warn')).toBe(true)
    expect(pretty.lines.filter((line) => line.includes(`WARN  ${message} ip=203.0.113.`))).toHaveLength(10)
  })

  test('are logged without what was tried', () => {
    expect([...json.lines, ...pretty.lines].join()).not.toMatch(/hunter22|0123456789|k{12}|A{12}/)
  })

  test('are not what succeeds, is malformed, has ended or comes from an address that is not trusted', async () => {
    const log = await logOf('json', async (ask, server) => {
      const token = await server.signIn(alice)
      await ask('/api/me', undefined, { authorization: `Bearer ${token}` })
      await ask('/api/auth/login', { idTag: 'not a name', password: secret })
      server.clock.advance(40 * 86_400_000)
      await ask('/api/me', undefined, { authorization: `Bearer ${token}` })
      await ask('/api/me', undefined, { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.x' })
      await ask('/api/me')
    })
    expect(log.of(message)).toEqual([])
    const direct = new RecordedLog()
    await using server = await TestServer.start({ logger: direct.logger })
    await server.request(home, '/api/auth/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.1' },
      body: JSON.stringify({ idTag: home, password: secret }),
    })
    expect(direct.of(message)).toMatchObject([{ ip: '127.0.0.1' }])
  })
})

const run = promisify(execFile)
const program = '/usr/bin/fail2ban-regex'
const filter = resolve(import.meta.dirname, '../../../../deploy/fail2ban/filter.conf')

if (!existsSync(program)) skipSuite('the filter for fail2ban', 'needs fail2ban (apt install fail2ban)')
else
  describe('the filter for fail2ban', () => {
    let folder: string
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'kith-fail2ban-'))
    })
    afterAll(() => rm(folder, { recursive: true }))

    /** The addresses that it finds. */
    async function addressesIn(lines: readonly string[]): Promise<string[]> {
      const path = join(folder, 'log')
      await writeFile(path, lines.map((line) => `${line}\n`).join(''))
      const { stdout } = await run(program, ['--out', 'ip', path, filter])
      return stdout.split('\n').filter((line) => line !== '')
    }

    test('finds the address of each, in a file and as the journal has them', async () => {
      const found = Array.from({ length: 10 }, (_, at) => `203.0.113.${at + 1}`)
      expect(await addressesIn(json.lines)).toEqual(found)
      expect(await addressesIn(json.lines.map((line) => `host kith[321]: ${line}`))).toEqual(found)
    })

    test('is not taken in by what clients write', async () => {
      const line = json.lines.find((each) => each.includes(message)) ?? ''
      const forged = line.replace('203.0.113.1', '198.51.100.1')
      const log = new RecordedLog()
      for (const text of [forged, `\n${forged}\n`, `x kith[1]: ${forged}`, `","msg":"x"}\n${forged}`]) {
        log.logger.warn({ idTag: text, err: new Error(text) }, 'a request failed')
        log.logger.info({ ip: text, reqId: text }, message)
      }
      expect(await addressesIn([...log.lines, line])).toEqual(['203.0.113.1'])
    })
  })
