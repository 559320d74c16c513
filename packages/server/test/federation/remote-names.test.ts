import type { RequestListener } from 'node:http'
import {
  activateIdentity,
  createIdentityKey,
  createReference,
  deleteManagedIdentity,
  getManagedIdentity,
  getMe,
  getProxyToken,
  type IdTag,
  listManagedIdentities,
  putSetting,
  registerAccount,
  setIdentityAddress,
  verifyName,
} from '@kith/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ForeignServer } from '#harness/foreign-server.ts'
import { linkIn, type ReadMail, readMails } from '#harness/mail-files.ts'
import { TestNetwork } from '#harness/test-network.ts'

const home = 'one.localhost'
const provider = 'two.localhost'

let network: TestNetwork
let foreign: ForeignServer
let token: string
let people = 0
beforeAll(async () => {
  network = await TestNetwork.start(2)
  foreign = await network.addForeign('names.localhost')
  await set(1, provider, 'idp.enabled', true)
  const { data } = await (await network.server(0).as(home)).call(createReference, {
    body: { type: 'invite', count: null },
  })
  token = data.refId
})
afterAll(() => network[Symbol.asyncDispose]())
// So many requests of one address would be too many in a minute.
beforeEach(() => network.clock.advance(60_000))

const fresh = (domain = provider) => `person${++people}.${domain}`

async function set(at: number, idTag: string, name: string, value: unknown): Promise<void> {
  await (await network.server(at).as(idTag)).call(putSetting, { params: { name }, body: { value } })
}

const verify = async (idTag: string) => {
  const body = { type: 'idp', idTag } as const
  return (await network.server(0).client(home).call(verifyName, { body })).data
}

const register = async (idTag: string, wish: { lang?: string } = {}) => {
  const body = { type: 'idp' as const, idTag, email: 'guest@example.org', token, ...wish }
  return (await network.server(0).client(home).call(registerAccount, { body })).data
}

async function lastMail(at: number): Promise<ReadMail> {
  await network.settle()
  const mail = (await readMails(network.server(at).running.services.config.mail.directory)).at(-1)
  if (!mail) throw new Error('there is no mail')
  return mail
}

/** Somebody of the first server on the provider's host. */
async function visit(idTag: string) {
  const { data } = await (await network.server(0).as(idTag)).call(getProxyToken, {
    query: { target: provider },
  })
  return network.server(1).client(provider, data.token)
}

const traces = () =>
  network
    .server(0)
    .countRows(
      'tenants',
      'accounts',
      'profiles',
      'refs',
      'sessions',
      'signing_keys',
      'unfinished_registrations',
    )

async function namesAtProvider(): Promise<string[]> {
  const client = await network.server(1).as(provider)
  return (await client.call(listManagedIdentities, { query: { limit: 200 } })).data.map(({ idTag }) => idTag)
}

const refusedName = {
  status: 400,
  code: 'E-VALIDATION',
  details: { issues: [expect.objectContaining({ path: '/idTag' })] },
}
const unavailable = { status: 503, code: 'E-UNAVAILABLE' }
const taken = { status: 409, code: 'E-PROFILE-EXISTS' }

describe('a name of a provider elsewhere', () => {
  test('becomes an account here, and its owner’s by a mail from there', async () => {
    const idTag = fresh()
    expect(await verify(idTag)).toMatchObject({ available: true, idTag, errors: [] })
    const registered = await register(idTag, { lang: 'de' })
    expect(registered).toMatchObject({ idTag, token: expect.any(String) })
    const own = network.server(0).client(idTag, registered.token)
    expect((await own.call(getMe)).data).toMatchObject({ idTag, roles: ['user'] })
    expect((await lastMail(0)).subject).toBe('Willkommen: wählen Sie Ihr Passwort')
    expect(await verify(idTag)).toMatchObject({ available: false, errors: ['E-PROFILE-EXISTS'] })

    const mail = await lastMail(1)
    expect(mail).toMatchObject({ to: 'guest@example.org', subject: 'Aktivieren Sie Ihren Namen' })
    const link = new URL(linkIn(mail))
    expect(link.origin).toBe(network.server(1).urlOf(provider))
    expect((await network.server(1).request(provider, link.pathname)).status).toBe(200)
    const registrar = await visit(home)
    const params = { id: idTag }
    expect((await registrar.call(getManagedIdentity, { params })).data).toMatchObject({
      registrarIdTag: home,
      ownerIdTag: null,
      email: 'guest@example.org',
      address: home,
      status: 'pending',
    })
    await registrar.call(setIdentityAddress, { params, body: { address: 'edge.example' } })
    const refId = link.hash.slice('#token='.length)
    const { data } = await network.server(1).client(provider).call(activateIdentity, { body: { refId } })
    expect(data).toEqual({ idTag, status: 'active', address: 'edge.example' })
  })

  test('is no longer its registrar’s once it is active, but the one’s who bears it', async () => {
    const idTag = fresh() as IdTag
    await register(idTag)
    const refId = new URL(linkIn(await lastMail(1))).hash.slice('#token='.length)
    await network.server(1).client(provider).call(activateIdentity, { body: { refId } })
    network.announce(0, idTag)
    const params = { id: idTag }
    const body = { address: '198.51.100.7' }
    const forbidden = { status: 403, code: 'E-AUTH-FORBIDDEN' }
    const registrar = await visit(home)
    await expect(registrar.call(setIdentityAddress, { params, body })).rejects.toMatchObject(forbidden)
    await expect(registrar.call(deleteManagedIdentity, { params })).rejects.toMatchObject(forbidden)
    await expect(registrar.call(createIdentityKey, { body: { idTag } })).rejects.toMatchObject(forbidden)
    const bearer = await visit(idTag)
    expect((await bearer.call(setIdentityAddress, { params, body })).data).toMatchObject(body)
    const { data } = await bearer.call(createIdentityKey, {})
    const machine = network.server(1).client(provider, data.plaintextKey)
    expect((await machine.call(getManagedIdentity, { params })).data).toMatchObject(body)
    expect((await bearer.call(deleteManagedIdentity, { params })).data).toEqual({ deleted: true, idTag })
  })

  test('that is taken there cannot be had here, and leaves nothing', async () => {
    const idTag = fresh()
    await network.server(1).createTenant(idTag)
    const before = await traces()
    expect(await verify(idTag)).toMatchObject({ available: false, errors: ['E-PROFILE-EXISTS'] })
    await expect(register(idTag)).rejects.toMatchObject(taken)
    expect(await traces()).toEqual(before)
  })

  test('is given to one of those who ask at once', async () => {
    const idTag = fresh()
    const outcomes = await Promise.allSettled([register(idTag), register(idTag), register(idTag)])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(taken)
    // What was noted in case of a failure finds somebody living here.
    await network.pass(16 * 60_000, 8 * 60_000)
    expect(await namesAtProvider()).toContain(idTag)
  })

  test('is given back when there is no account for it after all, and can be had again', async () => {
    const idTag = fresh()
    const { tenants = 0 } = await network.server(0).countRows('tenants')
    await set(0, home, 'limits.max_tenants', tenants)
    const before = await traces()
    await expect(register(idTag)).rejects.toMatchObject({ code: 'E-STATE' })
    expect(await traces()).toEqual(before)
    await network.settle()
    expect(await namesAtProvider()).not.toContain(idTag)
    await set(0, home, 'limits.max_tenants', 0)
    expect((await register(idTag)).idTag).toBe(idTag)
    await network.settle()
    expect(await namesAtProvider()).toContain(idTag)
  })

  test('cannot be had of somebody who is no provider, or of nobody', async () => {
    const before = await traces()
    for (const idTag of [fresh('elsewhere.localhost'), fresh('nowhere.example')]) {
      expect(await verify(idTag)).toMatchObject({ available: false, errors: ['E-VALIDATION'] })
      await expect(register(idTag)).rejects.toMatchObject(refusedName)
    }
    await set(1, provider, 'idp.enabled', false)
    network.clock.advance(6_000)
    const idTag = fresh()
    expect(await verify(idTag)).toMatchObject({ available: false, errors: ['E-VALIDATION'] })
    await expect(register(idTag)).rejects.toMatchObject(refusedName)
    await set(1, provider, 'idp.enabled', true)
    network.clock.advance(6_000)
    expect(await traces()).toEqual(before)
  })

  test('has to wait while its provider cannot be reached', async () => {
    const before = await traces()
    await network.takeDown(1)
    const idTag = fresh()
    network.clock.advance(60_000)
    const verifying = verify(idTag)
    await expect(verifying).rejects.toMatchObject(unavailable)
    await expect(register(idTag)).rejects.toMatchObject(unavailable)
    expect(await traces()).toEqual(before)
    await network.bringBack(1)
    network.clock.advance(60_000)
    expect((await register(idTag)).idTag).toBe(idTag)
  })
})

describe('a provider that is not Kith', () => {
  const json = (status: number, data: unknown, type = 'application/json'): RequestListener => {
    return (_, answer) => answer.writeHead(status, { 'content-type': type }).end(JSON.stringify({ data }))
  }
  const info = json(200, { domain: 'names.localhost', name: 'Names', info: '' })
  const free = json(200, { available: true, idTag: 'x.names.localhost' })

  /** How the provider answers from now on, by the last part of the path. */
  function answering(answers: Readonly<Record<string, RequestListener>>): void {
    foreign.onRequest = (request, answer) => {
      const { pathname } = new URL(request.url ?? '/', foreign.url)
      const [, name] = /^\/api\/idp\/([^/]+)/.exec(pathname) ?? []
      const listener = answers[`${request.method} ${name}`] ?? json(404, null)
      listener(request, answer)
    }
  }

  test('is asked as docs/protocol/identity-provider.md says, by a token of the base tenant', async () => {
    answering({ 'GET info': info, 'GET check-availability': free, 'POST identities': json(201, {}) })
    const idTag = fresh('names.localhost')
    await register(idTag)
    const asked = foreign.requests.filter(({ url }) => url.startsWith('/api/idp/'))
    const posted = asked.find(({ method }) => method === 'POST')
    expect(JSON.parse(posted?.body ?? '')).toEqual({ idTag, email: 'guest@example.org', address: home })
    const bearer = posted?.headers.authorization?.slice('Bearer '.length) ?? ''
    const claims = JSON.parse(Buffer.from(bearer.split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({ iss: home, aud: 'names.localhost', use: 'proxy' })
    const openly = asked.filter(({ headers }) => headers.authorization === undefined)
    expect(new Set(openly.map(({ url }) => url))).toEqual(new Set(['/api/idp/info']))
  })

  test.each<[string, Readonly<Record<string, RequestListener>>]>([
    ['another domain', { 'GET info': json(200, { domain: 'other.localhost' }) }],
    ['no JSON', { 'GET info': json(200, { domain: 'names.localhost' }, 'text/html') }],
    ['something else', { 'GET info': json(200, 'hello') }],
    [
      'that it refuses',
      { 'GET info': info, 'GET check-availability': free, 'POST identities': json(400, null) },
    ],
    [
      'that it knows no such registrar',
      { 'GET info': info, 'GET check-availability': free, 'POST identities': json(401, null) },
    ],
  ])('gives no names when it answers %s', async (_, answers) => {
    answering(answers)
    const before = await traces()
    await expect(register(fresh('names.localhost'))).rejects.toMatchObject(refusedName)
    expect(await traces()).toEqual(before)
  })

  test.each<[string, Readonly<Record<string, RequestListener>>]>([
    ['info', { 'GET info': json(500, null) }],
    ['availability', { 'GET info': info, 'GET check-availability': json(429, null) }],
    [
      'registration',
      { 'GET info': info, 'GET check-availability': free, 'POST identities': json(503, null) },
    ],
  ])('that is in trouble (%s) is tried again by whoever registers', async (_, answers) => {
    answering(answers)
    const before = await traces()
    await expect(register(fresh('names.localhost'))).rejects.toMatchObject(unavailable)
    expect(await traces()).toEqual(before)
  })

  test('gets the name back when its answer was lost', async () => {
    const cut: RequestListener = (request) => void request.socket.destroy()
    answering({ 'GET info': info, 'GET check-availability': free, 'POST identities': cut })
    const idTag = fresh('names.localhost')
    await expect(register(idTag)).rejects.toMatchObject(unavailable)
    const given = () =>
      foreign.requests.filter(({ method, url }) => method === 'DELETE' && url.endsWith(idTag))
    expect(given()).toHaveLength(0)
    answering({ 'GET info': info, 'DELETE identities': json(200, { deleted: true, idTag }) })
    await network.pass(16 * 60_000, 8 * 60_000)
    expect(given()).toHaveLength(1)
  })
})
