import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { connect, type TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { findStored, pageStates, renewCertificate } from '#features/certificates/index.ts'
import { ownAddress } from '#harness/addresses.ts'
import { AuthorityFront } from '#harness/authority-front.ts'
import { startDnsServer } from '#harness/dns-server.ts'
import { onPostgresServer } from '#harness/each-dialect.ts'
import { Pebble } from '#harness/pebble.ts'
import { ProgramProcess } from '#harness/program-process.ts'
import { sendHttp2 } from '#harness/secure-site.ts'
import { skipSuite } from '#harness/skip-suite.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer, testPassword } from '#harness/test-server.ts'
import { serverTenant } from '#infra/db/index.ts'
import { createEgress } from '#infra/egress/index.ts'
import { acmeLibrary } from '#infra/tls/acme/acme-library.ts'
import { AcmeTransport } from '#infra/tls/acme/acme-transport.ts'

const program = process.env.TEST_PEBBLE
const base = 'home.kith.example'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

// Of an address that nobody else listens on.
const httpPort = 1080
const tlsPort = 1443

interface LabOptions {
  readonly env?: Record<string, string>
  readonly nonceRejects?: number
  readonly validitySecs?: number
  readonly dataDir?: string
  readonly isSlow?: boolean
  /** What is answered from the beginning in the place of Pebble. */
  readonly fault?: { readonly status: number }
}

const hour = 3_600_000

/** Pebble, a DNS, and what a server between them is told. */
async function place({ env, dataDir, fault, ...faults }: LabOptions = {}) {
  const dns = await startDnsServer()
  cleanUps.push(() => dns[Symbol.asyncDispose]())
  const placed = { address: ownAddress(), dns: dns.address, httpPort, tlsPort }
  const pebble = await Pebble.start(program ?? '', { ...placed, ...faults })
  cleanUps.push(() => pebble[Symbol.asyncDispose]())
  const front = await AuthorityFront.start(pebble)
  cleanUps.push(() => front[Symbol.asyncDispose]())
  front.answer = () => fault
  dns.set(base, 'A', ownAddress())
  const shared = { dns, pebble, front, clock: new TestClock(Date.now()), root: await pebble.root() }
  const envOf = (address: string) => ({
    BASE_ID_TAG: base,
    TLS: 'acme',
    LISTEN: `${address}:${httpPort}`,
    LISTEN_TLS: `${address}:${tlsPort}`,
    ACME_DIRECTORY: front.directoryUrl,
    ACME_CA_FILE: pebble.caFile,
    ACME_EMAIL: 'admin@kith.example',
    ALLOW_PRIVATE_NETWORK: 'true',
    DNS_SERVERS: dns.address,
    ...env,
  })
  const start = async (address = ownAddress()) => {
    const place = dataDir === undefined ? {} : { dataDir }
    const server = await TestServer.start({
      baseIdTag: base,
      clock: shared.clock,
      env: envOf(address),
      ...place,
    })
    cleanUps.push(() => server.stop())
    return { ...shared, address, server, beside }
  }
  /** Another process of the same server. */
  const beside = () => start(ownAddress(1))
  return { env: envOf(ownAddress()), start }
}

/** A server that gets its certificates from Pebble; names lead to it as the DNS of the test says. */
async function lab(options: LabOptions = {}) {
  return await (await place(options)).start()
}

type Lab = Omit<Awaited<ReturnType<typeof lab>>, 'beside'>

async function stateOf({ server }: Lab, name = base) {
  const states = await pageStates(server.db.reader(serverTenant), { limit: 100 })
  return states.find((state) => state.name === name)
}

/** Runs the jobs, on a clock that moves on, until something holds. */
async function until(made: Lab, holds: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) {
    await made.server.settle()
    if (await holds()) return
    made.clock.advance(2_100)
  }
  throw new Error(`it does not hold: ${JSON.stringify(await stateOf(made))}`)
}

const issued = (made: Lab, name = base) =>
  until(made, async () => (await stateOf(made, name))?.notAfter !== undefined)

/** A handshake with a name of the server, checked against Pebble's root. */
function handshake({ address, root }: Lab, name: string, ALPNProtocols = ['http/1.1']): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port: tlsPort, servername: name, ca: root, ALPNProtocols }, () =>
      resolve(socket),
    )
    socket.once('error', reject)
  })
}

/** One request over TLS. */
async function get(
  made: Lab,
  name: string,
  path: string,
  init: { method?: string; headers?: object; body?: string } = {},
) {
  const { method = 'GET', headers = {}, body } = init
  const asked = request({
    host: made.address,
    port: tlsPort,
    servername: name,
    ca: made.root,
    agent: false,
    path,
    method,
    headers: { host: name, ...headers },
  }).end(body)
  const [answer] = await once(asked, 'response')
  return { status: answer.statusCode, text: await text(answer) }
}

/** Calls the API as the administrator. */
async function admin(made: Lab) {
  const json = { 'content-type': 'application/json' }
  const signedIn = await get(made, base, '/api/auth/login', {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ idTag: base, password: testPassword }),
  })
  const headers = { ...json, authorization: `Bearer ${JSON.parse(signedIn.text).data.token}` }
  return async (method: string, path: string, body?: object) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await get(made, base, path, { method, headers, ...sent })
    return answer.text === '' ? {} : JSON.parse(answer.text)
  }
}

function accountOf({ server }: Lab) {
  const accounts = server.db
    .reader(serverTenant)
    .tables<{ acme_accounts: { url: string; sealed_key: Uint8Array } }>()
    .selectFrom('acme_accounts')
  return accounts.selectAll().executeTakeFirstOrThrow()
}

/** As its owner may do with a copy of its key; answers the account. */
async function deactivateAccount(made: Lab) {
  const { server, clock, front, pebble } = made
  const account = await accountOf(made)
  const { vault, dns: resolver } = server.running.services
  const accountKey = Buffer.from(vault.unseal('acme account key', serverTenant, account.sealed_key))
  const trustedCertificates = [await readFile(pebble.caFile, 'utf8')]
  const privateNetworks = ['127.0.0.0/8']
  const egress = createEgress({ privateNetworks, resolver, userAgent: 'tests', trustedCertificates })
  const { directoryUrl } = front
  const { Client } = await acmeLibrary()
  const client = new Client({ directoryUrl, accountKey, accountUrl: account.url })
  const transport = new AcmeTransport({ egress, clock, directoryUrl })
  await transport.call(() => client.updateAccount({ status: 'deactivated' }))
  await egress.close()
  return account
}

async function serialOf(made: Lab, name = base): Promise<string> {
  const socket = await handshake(made, name)
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

if (!program) skipSuite('certificates from Pebble', 'TEST_PEBBLE is the path of Pebble')
else
  describe('certificates from Pebble', () => {
    test.each(['http-01', 'tls-alpn-01'])(
      'are got by %s, and served without a restart',
      async (challenge) => {
        const made = await lab({ env: { ACME_CHALLENGE: challenge } })
        await expect(handshake(made, base)).rejects.toThrow()
        await issued(made)
        const session = connectHttp2(`https://${base}`, {
          createConnection: () =>
            connect({
              host: made.address,
              port: tlsPort,
              servername: base,
              ca: made.root,
              ALPNProtocols: ['h2'],
            }),
        })
        const answer = await sendHttp2(session, '/api/me')
        session.destroy()
        expect(answer.status).toBe(200)
        expect(answer.headers['strict-transport-security']).toBeDefined()
        await expect(handshake(made, 'other.kith.example')).rejects.toThrow(/alert handshake failure/)
        await expect(handshake(made, base, ['acme-tls/1'])).rejects.toThrow()
        expect(await made.server.countRows('acme_challenges')).toEqual({ acme_challenges: 0 })
      },
    )

    test('are got from one that refuses half of the nonces', async () => {
      const made = await lab({ nonceRejects: 50 })
      await issued(made)
      await expect(handshake(made, base)).resolves.toBeDefined()
    })

    test('are ordered for a new tenant and a new proxy site, and told of', async () => {
      const made = await lab()
      const { server, dns } = made
      for (const name of ['alice.kith.example', 'wiki.kith.example']) dns.set(name, 'A', ownAddress())
      await server.createTenant('alice.kith.example')
      await issued(made, 'alice.kith.example')
      const backend = createServer((_, response) => response.end('the wiki')).listen(0, '127.0.0.1')
      cleanUps.push(() => backend.close())
      await once(backend, 'listening')
      await issued(made)
      const call = await admin(made)
      const { port } = backend.address() as AddressInfo
      const site = { domain: 'wiki.kith.example', backendUrl: `http://127.0.0.1:${port}` }
      const { siteId } = (await call('POST', '/api/admin/proxy-sites', site)).data
      await issued(made, site.domain)
      const shown = await call('GET', `/api/admin/proxy-sites/${siteId}`)
      expect(Date.parse(shown.data.certExpiresAt)).toBeGreaterThan(Date.now())
      const first = await serialOf(made, site.domain)
      expect((await get(made, site.domain, '/')).text).toBe('the wiki')
      await call('POST', `/api/admin/proxy-sites/${siteId}/renew-cert`)
      const [noted] = (await call('GET', '/api/audit?limit=1')).data
      expect(noted).toMatchObject({ event: 'proxy-site.renewal-requested', actorTag: base })
      await until(made, async () => (await serialOf(made, site.domain)) !== first)
      await call('DELETE', `/api/admin/proxy-sites/${siteId}`)
      await until(made, async () => (await stateOf(made, site.domain))?.unwantedSince !== undefined)
    })

    test('are not ordered for a name that leads elsewhere, until it leads here', async () => {
      const made = await lab({ env: { LOCAL_ADDRESSES: ownAddress() } })
      made.dns.set(base, 'A', '192.0.2.7')
      await until(made, async () => (await stateOf(made))?.fault?.kind === 'elsewhere')
      expect(await made.server.countRows('acme_accounts')).toEqual({ acme_accounts: 0 })
      made.dns.set(base, 'A', ownAddress())
      made.clock.advance(5 * 60_000)
      await issued(made)
    })

    test('are ordered again when the authority could not reach the name', async () => {
      const made = await lab()
      // Nobody listens there.
      made.dns.set(base, 'A', ownAddress(2))
      await until(made, async () => (await stateOf(made))?.fault !== undefined)
      expect(await stateOf(made)).toMatchObject({
        failures: 1,
        fault: { kind: 'connection' },
        orderUrl: undefined,
      })
      made.dns.set(base, 'A', ownAddress())
      made.clock.advance(10 * 60_000)
      await issued(made)
      expect(await stateOf(made)).toMatchObject({ failures: 0, fault: undefined })
    })

    test('are renewed when the authority says so', async ({ skip }) => {
      const made = await lab({ validitySecs: 7 * 86_400 })
      if ((await made.pebble.directory()).renewalInfo === undefined) skip('this Pebble has no RFC 9773')
      await issued(made)
      const first = await serialOf(made)
      const { notBefore = 0, notAfter = 0 } = (await stateOf(made)) ?? {}
      made.clock.advance(6 * 60_000)
      await made.server.settle()
      const { renewAt = 0, askAt = 0 } = (await stateOf(made)) ?? {}
      expect(renewAt).toBeGreaterThan(notBefore)
      expect(renewAt).toBeLessThan(notAfter)
      expect(renewAt).not.toBe(notBefore + Math.floor(((notAfter - notBefore) * 2) / 3))
      expect(askAt).toBeGreaterThan(notBefore)
      made.clock.advance((renewAt + 600) * 1000 - made.clock.now())
      await until(made, async () => (await serialOf(made)) !== first)
    })

    test('are got once a directory that answers 500 does so no more', async () => {
      const made = await (await place({ fault: { status: 500 } })).start()
      await until(made, async () => (await stateOf(made))?.fault !== undefined)
      expect(await stateOf(made)).toMatchObject({ failures: 1, fault: { kind: 'serverInternal' } })
      expect((await fetch(`http://${made.address}:${httpPort}/healthz`)).status).toBe(200)
      made.clock.advance(hour)
      await until(made, async () => (await stateOf(made))?.failures === 2)
      made.front.answer = () => undefined
      made.clock.advance(hour)
      await issued(made)
      expect(await stateOf(made)).toMatchObject({ failures: 0, fault: undefined })
    })

    test('are served on while the authority fails for twenty days, and renewed after', async () => {
      const made = await lab()
      await issued(made)
      const first = await serialOf(made)
      made.front.answer = () => ({ status: 500 })
      made.clock.advance(60 * 24 * hour)
      for (let hours = 0; hours < 20 * 24; hours += 6) {
        made.clock.advance(6 * hour)
        await made.server.settle()
      }
      expect((await stateOf(made))?.failures).toBeGreaterThan(60)
      expect(await serialOf(made)).toBe(first)
      made.front.answer = () => undefined
      made.clock.advance(6 * hour)
      await until(made, async () => (await serialOf(made)) !== first)
    })

    test('wait for as long as a rate limit says', async () => {
      const made = await lab()
      const isOrder = (path: string) => path === '/order-plz'
      const body = JSON.stringify({ type: 'urn:ietf:params:acme:error:rateLimited', detail: 'too many' })
      const headers = { 'content-type': 'application/problem+json', 'retry-after': '7200' }
      made.front.answer = (path) => (isOrder(path) ? { status: 429, headers, body } : undefined)
      await until(made, async () => (await stateOf(made))?.fault !== undefined)
      expect(await stateOf(made)).toMatchObject({ fault: { kind: 'rateLimited', detail: 'too many' } })
      made.front.answer = () => undefined
      for (const minutes of [30, 30, 30, 25]) {
        made.clock.advance(minutes * 60_000)
        await made.server.settle()
      }
      expect(made.front.asked.filter(isOrder)).toHaveLength(1)
      made.clock.advance(10 * 60_000)
      await issued(made)
    })

    test('are ordered once from one that is slow and does not answer in between', async () => {
      const made = await lab({ isSlow: true })
      const refused = new Set<string>()
      made.front.answer = (path) => {
        if (refused.has(path) || !/^\/(my-order|finalize-order|certZ)\//.test(path)) return undefined
        refused.add(path)
        return { status: 503, headers: { 'retry-after': '1' } }
      }
      await expect
        .poll(
          async () => {
            made.clock.advance(3_000)
            await made.server.settle()
            return (await stateOf(made))?.notAfter
          },
          { interval: 100 },
        )
        .toBeTypeOf('number')
      expect(refused.size).toBe(3)
      expect(made.front.asked.filter((path) => path === '/order-plz')).toHaveLength(1)
      expect(await handshake(made, base)).toBeDefined()
    })

    test('are renewed where the account was deactivated', async () => {
      const made = await lab()
      await issued(made)
      const first = await serialOf(made)
      const { url } = await deactivateAccount(made)
      made.clock.advance(2 * hour)
      const { services } = made.server.running
      await made.server.db.transact(serverTenant, (tx) =>
        renewCertificate(services, tx, { name: base, zone: base }),
      )
      await until(made, async () => (await serialOf(made)) !== first)
      expect((await accountOf(made))?.url).not.toBe(url)
      expect(await stateOf(made)).toMatchObject({ failures: 0, fault: undefined })
    })

    describe('after a kill in the middle of an order', () => {
      test('are got by the next process, which goes on with it', async () => {
        const dataDir = await mkdtemp(join(tmpdir(), 'kith-acme-'))
        cleanUps.push(() => rm(dataDir, { recursive: true, force: true }))
        const made = await place({ isSlow: true, dataDir })
        await using process = new ProgramProcess(['serve'], { ...made.env, DATA_DIR: dataDir })
        await process.firstLine()
        const orderOf = () => {
          const database = new DatabaseSync(join(dataDir, 'kith.db'), { readOnly: true })
          const row = database.prepare('select order_url from certificates').get()
          database.close()
          return row?.order_url
        }
        await expect.poll(orderOf, { interval: 50 }).toBeTypeOf('string')
        const order = orderOf()
        await process[Symbol.asyncDispose]()
        const again = await made.start()
        expect(await stateOf(again)).toMatchObject({ orderUrl: order, notAfter: undefined })
        // The authority may have asked while nobody answered.
        await expect
          .poll(
            async () => {
              again.clock.advance(5_000)
              await again.server.settle()
              return (await stateOf(again))?.notAfter
            },
            { interval: 100 },
          )
          .toBeTypeOf('number')
      })
    })
  })

onPostgresServer('two processes on one database', (open) => {
  test('place one order for a name, and both serve its certificate', async ({ skip }) => {
    if (!program) skip('TEST_PEBBLE is the path of Pebble')
    const { url } = await open.place()
    const shared = { DATABASE_URL: url, MASTER_KEY: Buffer.alloc(32, 3).toString('base64') }
    const made = await lab({ env: shared })
    const other = await made.beside()
    for (let turn = 0; turn < 50 && (await stateOf(made))?.notAfter === undefined; turn += 1) {
      await Promise.all([made.server.settle(), other.server.settle()])
      made.clock.advance(2_100)
    }
    made.clock.advance(6_000)
    expect(await serialOf(other)).toBe(await serialOf(made))
    expect((await findStored(made.server.db.reader(serverTenant), base))?.version).toBe(1)
  })
})
