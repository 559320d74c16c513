import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createManagedIdentity,
  createProxySite,
  deleteManagedIdentity,
  deleteProxySite,
  getAuditLog,
  getProxySite,
  listProxySites,
  type ProxySiteView,
  putSetting,
  renewProxySiteCert,
  updateProxySite,
  verifyName,
} from '@kith/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

let server: TestServer
let backendUrl: string
let status = 200
const backend = createServer((request, response) => {
  response.statusCode = status
  response.end(`backend ${request.headers.host} ${request.url}`)
})

beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant('alice.localhost')
  backend.listen(0, '127.0.0.1')
  await new Promise((resolve) => backend.once('listening', resolve))
  backendUrl = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
})
afterEach(async () => {
  const client = await admin()
  for (const { siteId } of (await client.call(listProxySites)).data)
    await client.call(deleteProxySite, { params: { siteId } })
})
afterAll(async () => {
  await server.stop()
  backend.closeAllConnections()
  backend.close()
})

const admin = () => server.as(server.baseIdTag)

async function create(domain: string, body: object = {}): Promise<ProxySiteView> {
  const { data } = await (await admin()).call(createProxySite, {
    body: { domain, backendUrl, ...body } as never,
  })
  return data
}

async function change(siteId: number, body: object): Promise<ProxySiteView> {
  return (await (await admin()).call(updateProxySite, { params: { siteId }, body })).data
}

/** With the identity provider of the base tenant on. */
async function asProvider(work: (owner: Awaited<ReturnType<typeof admin>>) => Promise<void>): Promise<void> {
  const owner = await admin()
  const params = { name: 'idp.enabled' } as const
  await owner.call(putSetting, { params, body: { value: true } })
  await work(owner)
  await owner.call(putSetting, { params, body: { value: false } })
}

/** What a visitor of a host of the server gets. */
async function visit(host: string, path = '/'): Promise<string> {
  const answer = await server.request(host, path, { headers: {} })
  return `${answer.status} ${await answer.text()}`
}

describe('a proxy site', () => {
  test('is no name that a provider gives', async () => {
    const idTag = `site.${server.baseIdTag}`
    await create(idTag)
    await asProvider(async (owner) => {
      const wish = { idTag: idTag as never, email: 'ann@example.org' }
      await expect(owner.call(createManagedIdentity, { body: wish })).rejects.toMatchObject({
        code: 'E-PROFILE-EXISTS',
      })
    })
  })

  test('is made, shown, changed and removed, and noted in the audit trail', async () => {
    // Entries of one moment have no order.
    server.clock.advance(1_000)
    const client = await admin()
    const made = await create('WIKI.localhost')
    const now = new Date(server.clock.now()).toISOString()
    expect(made).toEqual({
      siteId: expect.any(Number),
      domain: 'wiki.localhost',
      backendUrl,
      status: 'A',
      type: 'basic',
      config: {},
      createdAt: now,
      updatedAt: now,
    })
    const params = { siteId: made.siteId }
    server.clock.advance(1_000)
    const changed = await change(made.siteId, { config: { websocket: false }, status: 'D' })
    const later = new Date(server.clock.now()).toISOString()
    expect(changed).toEqual({ ...made, status: 'D', config: { websocket: false }, updatedAt: later })
    expect((await client.call(getProxySite, { params })).data).toEqual(changed)
    expect((await client.call(listProxySites)).data).toEqual([changed])
    server.clock.advance(1_000)
    await client.call(deleteProxySite, { params })
    for (const contract of [getProxySite, deleteProxySite, renewProxySiteCert] as const)
      await expect(client.call(contract, { params })).rejects.toMatchObject({
        status: 404,
        code: 'E-NOTFOUND',
      })
    await expect(change(made.siteId, {})).rejects.toMatchObject({ status: 404 })
    const { data } = await client.call(getAuditLog, { query: { limit: 3 } })
    expect(data.map(({ event }) => event)).toEqual([
      'proxy-site.removed',
      'proxy-site.changed',
      'proxy-site.created',
    ])
  })

  test('belongs to its backend wholly while it is active', async () => {
    expect(await visit('wiki.localhost', '/api/me')).toMatch(/^(200|404) [^b]/)
    const { siteId } = await create('wiki.localhost')
    const { port } = server.running
    for (const path of ['/', '/api/me', '/healthz', '/.well-known/service/id-tag?x=1'])
      expect(await visit('wiki.localhost', path)).toBe(`200 backend wiki.localhost:${port} ${path}`)
    expect(await visit('wiki.localhost', '/.well-known/acme-challenge/x')).not.toContain('backend')
    expect(await visit('alice.localhost', '/healthz')).toBe('200 ok\n')
    await change(siteId, { status: 'D' })
    expect(await visit('wiki.localhost', '/healthz')).toBe('200 ok\n')
    await change(siteId, { status: 'A', config: { preserveHost: false } })
    expect(await visit('wiki.localhost')).toBe(`200 backend ${backendUrl.slice(7)} /`)
  })

  test('gets no certificate where the server gets none', async () => {
    const { siteId } = await create('wiki.localhost')
    const renewing = (await admin()).call(renewProxySiteCert, { params: { siteId } })
    await expect(renewing).rejects.toMatchObject({ status: 503, code: 'E-UNAVAILABLE' })
  })

  test('tells how its backend is, where it has a path for that', async () => {
    const config = { healthPath: '/health' }
    const { siteId, health } = await create('wiki.localhost', { type: 'advanced', config })
    expect(health).toBe('unknown')
    const { proxy } = server.running.features
    const shown = async () => (await (await admin()).call(getProxySite, { params: { siteId } })).data.health
    const gauges = async () =>
      (await server.running.services.metrics.scrape()).text.match(/^kith_proxy_sites_\w+ \d$/gm)?.sort()
    for (const [answered, expected, down] of [
      [503, 'down', 1],
      [204, 'up', 0],
    ] as const) {
      status = answered
      server.clock.advance(30_000)
      await proxy.health.run()
      expect(await shown()).toBe(expected)
      expect(await gauges()).toEqual([`kith_proxy_sites_down ${down}`, `kith_proxy_sites_up ${1 - down}`])
    }
    status = 200
    await change(siteId, { status: 'D' })
    expect(await gauges()).toEqual(['kith_proxy_sites_down 0', 'kith_proxy_sites_up 0'])
  })
})

describe('names', () => {
  test('that a tenant or a site has are refused', async () => {
    await server.createTenant('club.localhost', { appDomain: 'app.example.org' })
    await create('wiki.localhost')
    const { siteId } = await create('old.localhost')
    await change(siteId, { status: 'D' })
    for (const domain of [
      'alice.localhost',
      server.baseIdTag,
      'app.example.org',
      'wiki.localhost',
      'old.localhost',
    ])
      await expect(create(domain)).rejects.toMatchObject({ status: 409, code: 'E-DUPLICATE' })
    for (const domain of ['localhost', '10.0.0.1', 'a b.example', '-a.example'])
      await expect(create(domain)).rejects.toMatchObject({ status: 400, code: 'E-VALIDATION' })
  })

  test('that a provider of this server gave, or released lately, are refused', async () => {
    await asProvider(async (owner) => {
      const idTag = `ann.${server.baseIdTag}`
      const wish = { idTag: idTag as never, email: 'ann@example.org' }
      await owner.call(createManagedIdentity, { body: wish })
      const refused = { status: 409, code: 'E-DUPLICATE' }
      await expect(create(idTag)).rejects.toMatchObject(refused)
      await owner.call(deleteManagedIdentity, { params: { id: idTag } })
      await expect(create(idTag)).rejects.toMatchObject(refused)
    })
  })

  test('where everybody is at one host, that one is refused', async () => {
    await using single = await TestServer.start({ env: { PUBLIC_URL: 'http://social.example:{port}' } })
    const client = await single.as(single.baseIdTag)
    const body = { domain: 'social.example', backendUrl } as never
    const refused = { status: 409, code: 'E-DUPLICATE' }
    await expect(client.call(createProxySite, { body })).rejects.toMatchObject(refused)
  })

  test('of a site, a disabled one included, are nobody’s identity', async () => {
    const { siteId } = await create(`wiki.${server.baseIdTag}`)
    await change(siteId, { status: 'D' })
    const idTag = `wiki.${server.baseIdTag}`
    const client = server.client(server.baseIdTag)
    const { data } = await client.call(verifyName, { body: { idTag: idTag as never, type: 'idp' } })
    expect(data).toMatchObject({ available: false, errors: ['E-PROFILE-EXISTS'] })
    const taken = { code: 'E-PROFILE-EXISTS' }
    await expect(server.createTenant(idTag)).rejects.toMatchObject(taken)
    await expect(server.createTenant('ben.localhost', { appDomain: idTag })).rejects.toMatchObject(taken)
  })
})

describe('a backend', () => {
  test.each([
    'ftp://10.0.0.5',
    'file:///etc/passwd',
    'unix:/run/socket',
    'http:10.0.0.5',
    'http://user:secret@10.0.0.5',
    'http://10.0.0.5/path',
    'http://10.0.0.5/?query',
    'http://10.0.0.5:99999',
    'nonsense',
    'http://169.254.169.254',
    'http://[fe80::1]',
    'http://[::ffff:169.254.169.254]',
    'http://[64:ff9b::169.254.169.254]',
    'http://[64:ff9b:1::169.254.169.254]',
    'http://[::169.254.169.254]',
    'http://10.0.0.5:0',
    'http://*.example',
    'http://-',
    'http://[2002:a9fe:a9fe::1]',
    'http://[::ffff:0:169.254.169.254]',
    'http://100.100.100.200',
    'http://168.63.129.16',
    'http://[64:ff9b::168.63.129.16]',
    'http://192.0.0.192',
    'http://[fd00:ec2:0:0::254]',
    'http://[fd20:ce::254]',
    'http://[fd00:42::42]',
    'http://224.0.0.1',
  ])('%s is refused', async (url) => {
    await expect(create('wiki.localhost', { backendUrl: url })).rejects.toMatchObject({ status: 400 })
  })

  test('is not this server, by whichever name', async () => {
    const { port } = server.running
    await create('other.localhost')
    for (const host of [
      '127.0.0.1',
      '127.1.2.3',
      '2130706433',
      '0x7f.1',
      '0.0.0.0',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      'localhost',
      'alice.localhost',
      'other.localhost',
    ])
      await expect(create('wiki.localhost', { backendUrl: `http://${host}:${port}` })).rejects.toMatchObject({
        status: 400,
        details: { issues: [{ path: '/backendUrl', message: 'is this server itself' }] },
      })
  })

  test('may be private, and is kept as an origin', async () => {
    const made = await create('wiki.localhost', { backendUrl: 'HTTP://10.0.0.5:80/' })
    expect(made.backendUrl).toBe('http://10.0.0.5')
    const changed = await change(made.siteId, { backendUrl: 'https://[fd00::1]:8443' })
    expect(changed.backendUrl).toBe('https://[fd00::1]:8443')
  })
})

describe('a configuration', () => {
  const refused: [type: string, config: object][] = [
    ['basic', { stripPrefix: '/app' }],
    ['basic', { requestHeaders: {} }],
    ['basic', { connectTimeoutSecs: 0 }],
    ['basic', { readTimeoutSecs: 3601 }],
    ['basic', { websocket: 'yes' }],
    ['basic', { readTimoutSecs: 5 }],
    ['advanced', { requestHeaders: { 'X-One': '1', x_one: '2' } }],
    ['advanced', { stripPrefix: 'app' }],
    ['advanced', { stripPrefix: '/app/' }],
    ['advanced', { healthPath: 'health' }],
    ...[
      'Host',
      'Via',
      'X-Forwarded-For',
      'x_forwarded_for',
      'Transfer-Encoding',
      'Content-Length',
      'bad name',
    ].map((name): [string, object] => ['advanced', { requestHeaders: { [name]: 'x' } }]),
    ['advanced', { responseHeaders: { 'Content-Length': '1' } }],
    ['advanced', { responseHeaders: { 'X-Split': 'a\r\nSet-Cookie: b' } }],
  ]
  test.each(refused)('%s with %o is refused', async (type, config) => {
    await expect(create('wiki.localhost', { type, config })).rejects.toMatchObject({
      code: 'E-VALIDATION',
      details: { issues: [{ path: expect.stringMatching(/^\/config\/./) }] },
    })
  })

  test('of an advanced site does not stay when it becomes a basic one', async () => {
    const { siteId } = await create('wiki.localhost', { type: 'advanced', config: { stripPrefix: '/app' } })
    await expect(change(siteId, { type: 'basic' })).rejects.toMatchObject({ code: 'E-VALIDATION' })
    expect(await change(siteId, { type: 'basic', config: {} })).toMatchObject({ type: 'basic', config: {} })
  })
})
