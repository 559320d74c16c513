import {
  blockDomain,
  createReference,
  getIdentityDocument,
  putSetting,
  type RegistrationType,
  registerAccount,
  verifyName,
} from '@kith/protocol'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startDnsServer, type TestDnsServer } from '#harness/dns-server.ts'
import { TestServer } from '#harness/test-server.ts'

const base = 'kith.example'
const own = '198.51.100.7'

let dns: TestDnsServer
let server: TestServer
let token: string
beforeAll(async () => {
  dns = await startDnsServer()
  const env = {
    DNS_SERVERS: dns.address,
    LOCAL_ADDRESSES: `${own},edge.kith.example`,
    // So that a record may name a server without TLS.
    ALLOW_PRIVATE_NETWORK: 'true',
  }
  server = await TestServer.start({ baseIdTag: base, env })
  const admin = await server.as(base)
  const { data } = await admin.call(createReference, { body: { type: 'invite', count: null } })
  token = data.refId
})
afterAll(async () => {
  await server?.stop()
  await dns?.[Symbol.asyncDispose]()
})
// So many requests of one address would be too many in a minute.
beforeEach(() => server.clock.advance(60_000))

const register = (idTag: string, wish: { type?: RegistrationType; appDomain?: string } = {}) =>
  server.client(base).call(registerAccount, {
    body: { type: 'domain', idTag, email: 'guest@example.org', token, ...wish },
  })

const verify = async (idTag: string, wish: { type?: 'domain' | 'community'; appDomain?: string } = {}) => {
  const { data } = await server.client(base).call(verifyName, { body: { type: 'domain', idTag, ...wish } })
  return data
}

const elsewhere = {
  code: 'E-VALIDATION',
  status: 400,
  details: { issues: [expect.objectContaining({ path: '/idTag' })], errors: ['E-DNS'] },
}

test('a name is had by whoever lets its DNS name this server', async () => {
  const idTag = 'alice.example'
  await expect(register(idTag)).rejects.toMatchObject(elsewhere)
  const asked = await verify(idTag)
  expect(asked).toEqual({
    available: false,
    idTag,
    errors: ['E-DNS'],
    serverAddresses: [own, 'edge.kith.example'],
  })
  dns.set(`_service.${idTag}`, 'TXT', `v=1 server=https://other.example`)
  await expect(register(idTag)).rejects.toMatchObject({ code: 'E-VALIDATION' })
  dns.set(`_service.${idTag}`, 'TXT', `v=1 server=${server.urlOf(base)}`)
  expect((await register(idTag)).data.idTag).toBe(idTag)
})

test('a name is had by whoever lets its address be the server’s', async () => {
  dns.set('bob.example', 'A', '203.0.113.9')
  await expect(register('bob.example')).rejects.toMatchObject(elsewhere)
  dns.set('bob.example', 'A', own)
  const { data } = await register('bob.example')
  const document = await server.client('bob.example').call(getIdentityDocument, {})
  expect(document.data).toMatchObject({ idTag: 'bob.example', serverUrl: server.urlOf('bob.example') })
  expect(data.idTag).toBe('bob.example')
  dns.set('carol.example', 'CNAME', 'edge.kith.example')
  expect((await register('carol.example')).data.idTag).toBe('carol.example')
})

test('a DNS that does not answer now decides nothing', async () => {
  dns.set('dave.example', 'A', own)
  dns.fail('SERVFAIL', '_service.dave.example')
  await expect(register('dave.example')).rejects.toMatchObject({ code: 'E-UNAVAILABLE', status: 503 })
  await expect(verify('dave.example')).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
  dns.fail(undefined, '_service.dave.example')
  expect((await verify('dave.example')).available).toBe(true)
})

test('an app domain leads here as well, lies below the name, or is nobody’s', async () => {
  dns.set('erin.example', 'A', own)
  const errorsOf = async (appDomain: string) => (await verify('erin.example', { appDomain })).errors
  expect(await errorsOf('cloud.example')).toEqual(['E-DNS'])
  dns.set('cloud.example', 'A', own)
  expect(await errorsOf('cloud.example')).toEqual([])
  expect(await errorsOf('bob.example')).toEqual(['E-PROFILE-EXISTS'])
  expect(await errorsOf('apps.bob.example')).toEqual(['E-PROFILE-EXISTS'])
  expect(await errorsOf('www.kith.example')).toEqual(['E-VALIDATION'])
  await register('erin.example', { appDomain: 'cloud.example' })
  expect((await verify('cloud.example')).errors).toEqual(['E-PROFILE-EXISTS'])
  const document = await server.client('cloud.example').call(getIdentityDocument, {})
  expect(document.data.idTag).toBe('erin.example')
})

test('a name below the server’s own domain needs no DNS, unless it is said to be one’s own', async () => {
  const asked = dns.questions.length
  expect((await register('frank.kith.example', { type: 'idp' })).data.idTag).toBe('frank.kith.example')
  expect((await verify('club.kith.example', { type: 'community' })).available).toBe(true)
  expect(dns.questions.length).toBe(asked)
  expect((await verify('grace.kith.example')).errors).toEqual(['E-DNS'])
  dns.set('club.example', 'A', '203.0.113.9')
  expect((await verify('club.example', { type: 'community' })).errors).toEqual(['E-DNS'])
})

test('wildcards in the DNS open neither reserved names nor those below somebody else’s', async () => {
  for (const name of ['www.kith.example', 'sub.bob.example', 'edge.kith.example']) dns.set(name, 'A', own)
  expect((await verify('www.kith.example')).errors).toEqual(['E-VALIDATION'])
  expect((await verify('edge.kith.example')).errors).toEqual(['E-VALIDATION'])
  expect((await verify('sub.bob.example')).errors).toEqual(['E-PROFILE-EXISTS'])
})

test('reserved names are those of the setting', async () => {
  const admin = await server.as(base)
  const params = { name: 'idp.reserved_names' }
  await admin.call(putSetting, { params, query: {}, body: { value: ['frobnicate'] } })
  await expect(register('frobnicate.kith.example', { type: 'idp' })).rejects.toMatchObject({
    code: 'E-VALIDATION',
  })
  expect((await register('support.kith.example', { type: 'idp' })).data.idTag).toBe('support.kith.example')
})

test('nobody gets a name in a blocked domain, or one under .localhost', async () => {
  const admin = await server.as(base)
  await admin.call(blockDomain, { body: { domain: 'spam.example' } })
  dns.set('eve.spam.example', 'A', own)
  expect((await verify('eve.spam.example')).errors).toEqual(['E-VALIDATION'])
  expect((await verify('eve.localhost')).errors).toEqual(['E-VALIDATION'])
})

test('where PUBLIC_URL has room for one tenant nobody registers', async () => {
  await using single = await TestServer.start({
    baseIdTag: base,
    env: { PUBLIC_URL: 'http://kith.example:{port}' },
  })
  const body = { type: 'idp', idTag: 'alice.kith.example' } as const
  const { data } = await single.client(base).call(verifyName, { body })
  expect(data.errors).toEqual(['E-VALIDATION'])
})
