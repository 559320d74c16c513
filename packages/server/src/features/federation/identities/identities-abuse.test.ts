import type { RequestListener, ServerResponse } from 'node:http'
import type { IdTag } from '@kith/protocol'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startDnsServer, type TestDnsServer } from '#harness/dns-server.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { type OriginServer, startOrigin } from '#harness/origin-server.ts'
import { newPublicKey } from '#harness/remote-servers.ts'
import { TestClock } from '#harness/test-clock.ts'
import { createDnsResolver } from '#infra/dns/index.ts'
import { createEgress, type PrivateNetworks } from '#infra/egress/index.ts'
import { federationMigrations } from '../federation-migrations.ts'
import { type Identities, openIdentities } from './open-identities.ts'

const mallory = 'mallory.example' as IdTag
const publicKey = newPublicKey()

// The real resolver and the real client against real servers, with everything that an attacker may put into both.
eachDialect('identities of strangers', (open) => {
  let dns: TestDnsServer
  const cleanUps: (() => PromiseLike<unknown>)[] = []

  beforeEach(async () => {
    dns = await startDnsServer()
    cleanUps.push(() => dns[Symbol.asyncDispose]())
  })
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })

  async function start(privateNetworks: PrivateNetworks): Promise<Identities> {
    const resolver = createDnsResolver({ servers: [dns.address], timeoutMs: 600 })
    const egress = createEgress({ privateNetworks, resolver, userAgent: 'Kith/test' })
    cleanUps.push(() => egress.close())
    return openIdentities({
      db: await open({ migrations: federationMigrations }),
      clock: new TestClock(),
      dns: resolver,
      egress,
      discoveryName: 'service',
      identityHosts: new Map(),
      localhostUrl: (idTag) => `http://${idTag}`,
      allowPlainHttp: privateNetworks !== false,
      findLocal: () => undefined,
      emit: async () => {},
    })
  }

  async function origin(listener: RequestListener): Promise<OriginServer> {
    const server = await startOrigin(listener)
    cleanUps.push(() => server.close())
    return server
  }

  const describing = (serverUrl: string): RequestListener =>
    answering({ data: { idTag: mallory, serverUrl, publicKey } })
  const answering =
    (document: unknown): RequestListener =>
    (_, answer) =>
      answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))

  const named = (server: string) => dns.set('_service.mallory.example', 'TXT', `v=1 server=${server}`)

  describe('in a laboratory', () => {
    test('are found when they are honest', async () => {
      const server = await origin((request, answer) => describing(server.url)(request, answer))
      named(server.url)
      const identities = await start(true)
      expect(await identities.resolve(mallory)).toMatchObject({
        kind: 'found',
        identity: { serverUrl: server.url, inboxUrl: `${server.url}/api/inbox` },
      })
      expect(server.requests).toMatchObject([
        { method: 'GET', url: '/.well-known/service/id-tag?idTag=mallory.example' },
      ])
    })

    test.each<[string, RequestListener]>([
      ['without end', (_, answer) => endless(answer.writeHead(200, { 'content-type': 'application/json' }))],
      ['of more than 64 KiB', answering({ data: 'x'.repeat(65_536) })],
      ['compressed', (_, answer) => answer.writeHead(200, { 'content-encoding': 'gzip' }).end('x')],
      ['moved for ever', (_, answer) => answer.writeHead(302, { location: '/' }).end()],
      ['in HTML', (_, answer) => answer.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
      [
        'about somebody else',
        answering({ data: { idTag: 'alice.example', serverUrl: 'http://a.example', publicKey } }),
      ],
      [
        'with a deep nest',
        (_, answer) => nested(answer.writeHead(200, { 'content-type': 'application/json' })),
      ],
      ['with a poisoned prototype', answering(JSON.parse(`{"__proto__":{"data":{"idTag":"${mallory}"}}}`))],
    ])('are unknown when their answer is %s', async (_, listener) => {
      const server = await origin(listener)
      named(server.url)
      expect(await (await start(true)).resolve(mallory)).toMatchObject({ kind: 'unknown' })
    })

    test.each<[string, RequestListener]>([
      [
        'cut off',
        (_, answer) => answer.writeHead(200, { 'content-length': '100' }).end('{}', () => answer.destroy()),
      ],
      ['an error', (_, answer) => answer.writeHead(500).end()],
      ['"later"', (_, answer) => answer.writeHead(429, { 'retry-after': '99999999999999' }).end()],
    ])('are waited for when their answer is %s', async (_, listener) => {
      const server = await origin(listener)
      named(server.url)
      expect(await (await start(true)).resolve(mallory)).toEqual({ kind: 'unreachable' })
    })

    test('are waited for while their DNS is silent', async () => {
      dns.fail('silent')
      expect(await (await start(true)).resolve(mallory)).toEqual({ kind: 'unreachable' })
    })
  })

  describe('on the internet', () => {
    test.each([
      'https://10.0.0.1',
      'https://127.0.0.1:8080',
      'https://[::1]:8080',
      'https://[::ffff:127.0.0.1]',
      'https://[64:ff9b::a00:1]',
      'https://169.254.169.254',
      'https://0x7f.1',
      'https://localhost:8080',
      'https://admin.localhost',
      'https://inside.example',
      'https://mixed.example',
      'https://user:password@1.1.1.1',
      'https://1.1.1.1:22',
    ])('cannot direct this server to %s', async (server) => {
      dns.set('inside.example', 'A', '192.168.1.1')
      dns.set('mixed.example', 'A', '8.8.8.8')
      dns.set('mixed.example', 'AAAA', 'fd00::1')
      named(server)
      expect(await (await start(false)).resolve(mallory)).toMatchObject({ kind: 'unknown' })
    })

    test('cannot direct it to internal addresses by a name of their own', async () => {
      dns.set('mallory.example', 'A', '127.0.0.1')
      expect(await (await start(false)).resolve(mallory)).toMatchObject({ kind: 'unknown' })
    })

    test('fail alike, whether an internal name exists or not', async () => {
      dns.set('mallory.example', 'A', '10.0.0.1')
      const identities = await start(false)
      const existing = await identities.resolve(mallory)
      expect(await identities.resolve('nobody.example' as IdTag)).toEqual(existing)
    })

    test('cannot direct it to internal addresses by a redirect', async () => {
      const inside = await origin(describing('http://127.0.0.1'))
      const outside = await origin((_, answer) =>
        answer.writeHead(302, { location: `http://127.0.0.2:${inside.port}/` }).end(),
      )
      named(outside.url)
      expect(await (await start(['127.0.0.1/32'])).resolve(mallory)).toMatchObject({ kind: 'unknown' })
      expect([outside.connections(), inside.connections()]).toEqual([1, 0])
    })

    test('cannot direct it to internal addresses by DNS rebinding', async () => {
      const inside = await origin(describing('https://mallory.example'))
      named(`https://rebind.example:${inside.port}`)
      dns.set('rebind.example', 'A', '127.0.0.1')
      const identities = await start(false)
      expect(await identities.resolve(mallory)).toMatchObject({ kind: 'unknown' })
      const questions = dns.questions.filter((question) => question === 'A rebind.example')
      expect([questions.length, inside.connections()]).toEqual([1, 0])
    })
  })
})

function endless(answer: ServerResponse): void {
  const more = () => {
    if (!answer.destroyed) answer.write('x'.repeat(16_384), () => setImmediate(more))
  }
  more()
}

function nested(answer: ServerResponse): void {
  answer.end(`{"data":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)
}
