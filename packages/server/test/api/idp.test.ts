import {
  activateIdentity,
  checkAvailability,
  createManagedIdentity,
  createReference,
  deleteManagedIdentity,
  getAccessToken,
  getAuditLog,
  getManagedIdentity,
  getProviderInfo,
  type IdTag,
  identityKeyContracts,
  idpContracts,
  listManagedIdentities,
  listReferences,
  putSetting,
  registerAccount,
  setIdentityAddress,
  updateManagedIdentity,
  verifyName,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeRelation, findRelation, withStatus } from '#features/relations/index.ts'
import { mailbox, NameProvider } from '#harness/name-provider.ts'
import { serverTenant } from '#infra/db/index.ts'

const dayMs = 86_400_000
const alice = 'alice.localhost'
const bob = 'bob.localhost'
const carol = 'carol.localhost'
const unknown = { status: 404, code: 'E-NOTFOUND' }
const forbidden = { status: 403, code: 'E-AUTH-FORBIDDEN' }
const taken = { status: 409, code: 'E-PROFILE-EXISTS' }
const wrongState = { status: 409, code: 'E-STATE' }
const gone = { status: 410, code: 'E-GONE' }

let names: NameProvider
let people = 0
beforeAll(async () => {
  names = await NameProvider.start({ TRUSTED_PROXIES: '127.0.0.0/8' })
})
afterAll(() => names[Symbol.asyncDispose]())

const fresh = () => `person${++people}`
const nowSecs = () => Math.floor(names.server.clock.now() / 1000)

async function isFree(idTag: string, asker?: string): Promise<boolean> {
  names.server.clock.advance(1_100)
  const client = asker === undefined ? names.with() : await clientOf(asker)
  return (await client.call(checkAvailability, { query: { idTag } })).data.available
}

const clientOf = (idTag: string) => names.clientOf(idTag)

describe('a tenant that is no provider', () => {
  const all = [...idpContracts, ...identityKeyContracts].map((contract) => ({
    name: contract.name,
    contract,
  }))

  test.each(all)('answers 404 to $name, whoever asks', async ({ contract }) => {
    const own = await names.server.as(bob)
    const { data } = await own.call(getAccessToken, { query: { scope: 'write:idp' } })
    const path = contract.path.replace('{id}', '1')
    const bearers = [undefined, 'Bearer bad', `Bearer ${data.token}`, `Bearer idp_${'A'.repeat(43)}`]
    for (const authorization of bearers) {
      const response = await names.server.request(bob, path, {
        method: contract.method,
        headers: authorization === undefined ? {} : { authorization },
      })
      const { error } = (await response.json()) as { error: { code: string } }
      expect({ status: response.status, code: error.code }).toEqual(unknown)
    }
  })
})

describe('a provider', () => {
  test('says below which name it gives others, and what it wants to say of itself', async () => {
    const info = async () => (await names.with().call(getProviderInfo, {})).data
    expect(await info()).toEqual({ domain: names.idTag, name: names.idTag, info: '' })
    await names.set('idp.name', 'Names for all')
    await names.set('idp.info', 'Free of charge.')
    await names.set('idp.url', 'https://names.example/terms')
    expect(await info()).toEqual({
      domain: names.idTag,
      name: 'Names for all',
      info: 'Free of charge.',
      url: 'https://names.example/terms',
    })
  })

  test('tells of a name whether it can be had, and of no name why not', async () => {
    await names.register('taken')
    await names.server.createTenant('lives.names.localhost')
    expect(await isFree('free.names.localhost')).toBe(true)
    expect(await isFree('FREE.names.localhost')).toBe(true)
    expect(await isFree('deep.free.names.localhost')).toBe(true)
    for (const idTag of [
      'taken.names.localhost',
      'below.taken.names.localhost',
      'lives.names.localhost',
      'below.lives.names.localhost',
      'www.names.localhost',
      'adm1n.names.localhost',
      // Cyrillic and Latin letters in one label.
      'xn--pypal-4ve.names.localhost',
      'names.localhost',
    ])
      expect({ idTag, isFree: await isFree(idTag) }).toEqual({ idTag, isFree: false })
    const answer = await names.with().call(checkAvailability, { query: { idTag: 'Taken.names.localhost' } })
    expect(answer.data).toEqual({ available: false, idTag: 'taken.names.localhost' })
    for (const idTag of ['a b', 'free.elsewhere.localhost', 'alice.localhost', 'notnames.localhost'])
      await expect(isFree(idTag)).rejects.toMatchObject({
        status: 400,
        code: 'E-VALIDATION',
        details: { issues: [expect.objectContaining({ path: '/query/idTag' })] },
      })
  })
})

test('asking for names is for sixty in a minute from one address', async () => {
  names.server.clock.advance(60_000)
  const path = '/api/idp/check-availability?idTag=free.names.localhost'
  const statuses: number[] = []
  for (let turn = 0; turn < 61; turn += 1)
    statuses.push((await names.server.request(names.idTag, path)).status)
  expect(statuses).toEqual([...Array(60).fill(200), 429])
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ refId: 'x' })
  const further = await names.server.request(names.idTag, '/api/idp/activate', {
    method: 'POST',
    headers,
    body,
  })
  expect(further.status).toBe(429)
  names.server.clock.advance(60_000)
})

describe('a server’s own domain', () => {
  const home = 'home.localhost'

  test('has tenants and managed names, and none is both', async () => {
    const { server } = names
    const admin = await server.as(home)
    await admin.call(putSetting, { params: { name: 'idp.enabled' }, body: { value: true } })
    const { data: invitation } = await admin.call(createReference, { body: { type: 'invite', count: null } })
    const errorsOf = async (idTag: string) => {
      server.clock.advance(3_000)
      const body = { idTag, type: 'idp' } as const
      return (await server.client(home).call(verifyName, { body })).data.errors
    }
    const register = (idTag: string) => {
      server.clock.advance(3_000)
      const body = { type: 'idp' as const, idTag, email: 'x@example.org', token: invitation.refId }
      return server.client(home).call(registerAccount, { body })
    }
    const manage = (idTag: string) =>
      admin.call(createManagedIdentity, { body: { idTag, ownerIdTag: carol } })
    await register('tenant.home.localhost')
    await expect(manage('tenant.home.localhost')).rejects.toMatchObject(taken)
    await manage('managed.home.localhost')
    expect(await errorsOf('managed.home.localhost')).toEqual(['E-PROFILE-EXISTS'])
    await expect(register('managed.home.localhost')).rejects.toMatchObject(taken)
    await admin.call(deleteManagedIdentity, { params: { id: 'managed' } })
    expect(await errorsOf('managed.home.localhost')).toEqual(['E-PROFILE-EXISTS'])
    await admin.call(deleteManagedIdentity, { params: { id: 'managed' } })
    expect(await errorsOf('managed.home.localhost')).toEqual([])
    await register('managed.home.localhost')
  })
})

describe('registering a name', () => {
  test('makes it pending, with whoever asked as its registrar', async () => {
    const label = fresh()
    const made = await names.register(label, { address: '2001:DB8::0:7', ownerIdTag: carol })
    expect(made).toEqual({
      idTag: `${label}.names.localhost`,
      email: mailbox(label),
      registrarIdTag: alice,
      ownerIdTag: carol,
      address: '2001:db8::7',
      addressUpdatedAt: nowSecs(),
      status: 'pending',
      createdAt: nowSecs(),
      updatedAt: nowSecs(),
      expiresAt: nowSecs() + 7 * 86_400,
      dyndns: false,
    })
  })

  test('ignores what is not the registrar’s to say', async () => {
    const label = fresh()
    const made = await names.register(label, {
      status: 'active',
      registrarIdTag: bob,
      createdAt: 1,
      expiresAt: 1,
      dyndns: true,
      tnId: 1,
    })
    expect(made).toMatchObject({ status: 'pending', registrarIdTag: alice, dyndns: false })
    expect(made.createdAt).toBe(nowSecs())
    expect(made.expiresAt).toBe(nowSecs() + 7 * 86_400)
  })

  test.each([
    [{ email: undefined }, '/email'],
    [{ email: 'nobody' }, '/email'],
    [{ email: 'a@b.example,c@d.example' }, '/email'],
    [{ idTag: 'x.elsewhere.localhost' }, '/idTag'],
    [{ idTag: 'names.localhost' }, '/idTag'],
    [{ idTag: 'admin.names.localhost' }, '/idTag'],
    [{ idTag: 'xn--pypal-4ve.names.localhost' }, '/idTag'],
    [{ idTag: 'a/b' }, '/idTag'],
    [{ address: '198.51.100.777' }, '/address'],
    [{ address: 'https://host.example/' }, '/address'],
    [{ address: 'host.example:8080' }, '/address'],
    [{ lang: 'not a language' }, '/lang'],
  ])('refuses %o', async (wish, path) => {
    await expect(names.register(fresh(), wish)).rejects.toMatchObject({
      status: 400,
      code: 'E-VALIDATION',
      details: { issues: [expect.objectContaining({ path })] },
    })
  })

  test('of one that is taken or resting is refused, by whomever it was', async () => {
    const label = fresh()
    await names.register(label)
    await expect(names.register(label)).rejects.toMatchObject(taken)
    await expect(names.register('alice', { idTag: `x.${label}.names.localhost` })).rejects.toMatchObject(
      taken,
    )
    await names.server.createTenant('hosted.names.localhost')
    await expect(names.register('hosted')).rejects.toMatchObject(taken)
  })

  test.each(['Banned', 'Blocked'] as const)('of one that is %s on the server is refused', async (status) => {
    const label = fresh()
    const decided = { ...withStatus(status), at: nowSecs() }
    await names.server.db.transact(serverTenant, async (tx) => {
      await changeRelation(tx, `${label}.names.localhost` as IdTag, decided)
    })
    await expect(names.register(label)).rejects.toMatchObject(taken)
  })

  test('needs an identity with the right scope that the provider has not blocked', async () => {
    const body = { idTag: `${fresh()}.names.localhost`, email: 'x@example.org' }
    await expect(names.with().call(createManagedIdentity, { body })).rejects.toMatchObject({ status: 401 })
    const own = await names.owner()
    for (const scope of ['read:idp', 'write:files']) {
      const { data } = await own.call(getAccessToken, { query: { scope } })
      await expect(names.with(data.token).call(createManagedIdentity, { body })).rejects.toMatchObject(
        forbidden,
      )
    }
    await names.server.block(names.idTag, bob)
    const blocked = await names.visit(bob)
    await expect(blocked.call(createManagedIdentity, { body })).rejects.toMatchObject(forbidden)
    await names.server.relate(names.idTag, bob, { isBlocked: false })
    const { data } = await own.call(getAccessToken, { query: { scope: 'write:idp' } })
    const made = await names.with(data.token).call(createManagedIdentity, { body })
    expect(made.data.registrarIdTag).toBe(names.idTag)
  })

  test('does not show what mails others had, and sends a mailbox three', async () => {
    const email = 'flooded@example.org'
    const made = []
    for (let turn = 0; turn < 4; turn += 1) made.push(await names.register(fresh(), { email }))
    expect(new Set(made.map((one) => Object.keys(one).join())).size).toBe(1)
    expect(await names.mailsTo(email)).toHaveLength(3)
  })

  test('is for thirty at once from one address, then for one every two minutes', async () => {
    names.server.clock.advance(2 * 3_600_000)
    const attempt = async () => {
      names.server.clock.advance(1_100)
      const body = { idTag: `${fresh()}.names.localhost`, ownerIdTag: carol }
      await (await names.visit(alice)).call(createManagedIdentity, { body })
    }
    for (let turn = 0; turn < 30; turn += 1) await attempt()
    await expect(attempt()).rejects.toMatchObject({ status: 429, code: 'E-RATELIMIT' })
    // The provider's own are its own matter.
    const body = { idTag: `${fresh()}.names.localhost`, ownerIdTag: carol }
    await (await names.owner()).call(createManagedIdentity, { body })
    names.server.clock.advance(2 * 3_600_000)
  })

  test('leaves a line in the provider’s audit trail, without a secret', async () => {
    const label = fresh()
    const { apiKey } = await names.register(label, { createApiKey: true })
    const refId = await names.refIdFor(mailbox(label))
    names.server.clock.advance(1000)
    await names.activate(refId)
    const { data } = await (await names.owner()).call(getAuditLog, {})
    const idTag = `${label}.names.localhost`
    expect(data.slice(0, 2)).toMatchObject([
      { event: 'identity.activated', details: { idTag } },
      { event: 'identity.registered', actorTag: alice, details: { idTag } },
    ])
    for (const secret of [refId, apiKey ?? '?', mailbox(label)])
      expect(JSON.stringify(data)).not.toContain(secret)
  })
})

describe('an activation', () => {
  test('is mailed with a link to the provider’s page, and makes the name its owner’s for a year', async () => {
    const label = fresh()
    await names.register(label, { address: 'edge.example.net' })
    const [mail] = await names.mailsTo(mailbox(label))
    expect(mail?.subject).toBe('Activate your name')
    expect(mail?.text).toContain(`${label}.names.localhost`)
    expect(mail?.text).toContain(`${names.server.urlOf(names.idTag)}/activate#token=`)
    const idTag = `${label}.names.localhost`
    const refId = await names.refIdFor(mailbox(label))
    expect(await names.activate(refId)).toEqual({ idTag, status: 'active', address: 'edge.example.net' })
    const { data } = await (await names.owner()).call(getManagedIdentity, { params: { id: label } })
    expect(data).toMatchObject({ status: 'active', expiresAt: nowSecs() + 365 * 86_400 })
    await expect(names.activate(refId)).rejects.toMatchObject(gone)
  })

  test('is written in the language that was asked for, else in the provider’s', async () => {
    const label = fresh()
    await names.register(label, { lang: 'de-AT' })
    expect((await names.mailsTo(mailbox(label)))[0]?.subject).toBe('Aktivieren Sie Ihren Namen')
    await names.set('language', 'de')
    const other = fresh()
    await names.register(other)
    expect((await names.mailsTo(mailbox(other)))[0]?.text).toContain('gehört er Ihnen')
    await names.set('language', 'en')
  })

  test('needs the reference that was mailed, within a day, on the provider’s host', async () => {
    const label = fresh()
    await names.register(label)
    const refId = await names.refIdFor(mailbox(label))
    for (const wrong of ['0123456789ABCDEFabcdefgh', '../../x', ''])
      await expect(names.activate(wrong)).rejects.toMatchObject(unknown)
    const admin = await names.server.as('home.localhost')
    const { data: invite } = await admin.call(createReference, { body: { type: 'invite' } })
    await expect(names.activate(invite.refId)).rejects.toMatchObject(unknown)
    const elsewhere = names.server.client('home.localhost')
    await expect(elsewhere.call(activateIdentity, { body: { refId } })).rejects.toMatchObject(unknown)
    names.server.clock.advance(dayMs)
    await expect(names.activate(refId)).rejects.toMatchObject(gone)
  })

  test('of a name that was given up and registered again needs the newer reference', async () => {
    const label = fresh()
    await names.register(label)
    const former = await names.refIdFor(mailbox(label))
    await (await names.visit(alice)).call(deleteManagedIdentity, { params: { id: label } })
    await names.register(label, { email: `new.${mailbox(label)}` })
    await expect(names.activate(former)).rejects.toMatchObject(gone)
    expect(await names.activate(await names.refIdFor(`new.${mailbox(label)}`))).toMatchObject({
      status: 'active',
    })
  })

  test('of a name without a mail address is its owner’s to find', async () => {
    const label = fresh()
    await names.register(label, { email: undefined, ownerIdTag: carol })
    const ofCarol = await names.visit(carol)
    const { data } = await ofCarol.call(listReferences, { query: { type: 'idp-activate' } })
    const own = data.find(({ resourceId }) => resourceId === `${label}.names.localhost`)
    const { data: ofAlice } = await (await names.visit(alice)).call(listReferences, { query: {} })
    expect(ofAlice).toEqual([])
    expect(await names.activate(own?.refId ?? '')).toMatchObject({ status: 'active' })
  })

  test('is made possible by the server alone', async () => {
    for (const client of [await names.owner(), await names.server.as('home.localhost')])
      await expect(client.call(createReference, { body: { type: 'idp-activate' } })).rejects.toMatchObject(
        forbidden,
      )
  })
})

describe('a name', () => {
  type Doing = 'read' | 'move' | 'dyndns' | 'suspend'

  async function attempt(asker: string, id: string, doing: Doing): Promise<number> {
    const client = await clientOf(asker)
    const params = { id }
    const done = {
      read: () => client.call(getManagedIdentity, { params }),
      move: () => client.call(setIdentityAddress, { params, body: { address: '198.51.100.9' } }),
      dyndns: () => client.call(updateManagedIdentity, { params, body: { dyndns: true } }),
      suspend: () => client.call(updateManagedIdentity, { params, body: { status: 'suspended' } }),
    }
    return done[doing]().then(
      () => 200,
      (error) => error.status,
    )
  }

  const statusesOf = async (id: string, asker: string, doings: readonly Doing[]) => {
    const statuses = []
    for (const doing of doings) statuses.push(await attempt(asker, id, doing))
    return statuses
  }

  test('that is pending obeys its registrar, its owner and the provider', async () => {
    const id = fresh()
    await names.register(id, { ownerIdTag: carol })
    for (const asker of [alice, carol])
      expect(await statusesOf(id, asker, ['read', 'move', 'dyndns', 'suspend'])).toEqual([200, 200, 200, 403])
    expect(await statusesOf(id, names.idTag, ['read', 'move', 'dyndns', 'suspend'])).toEqual([
      200, 200, 200, 409,
    ])
    expect(await statusesOf(id, bob, ['read', 'move', 'dyndns', 'suspend'])).toEqual([404, 404, 404, 404])
  })

  test('that is active obeys its registrar no more', async () => {
    const id = fresh()
    await names.registerActive(id, { ownerIdTag: carol })
    expect(await statusesOf(id, alice, ['read', 'move', 'dyndns', 'suspend'])).toEqual([200, 403, 403, 403])
    const params = { id }
    await expect((await names.visit(alice)).call(deleteManagedIdentity, { params })).rejects.toMatchObject(
      forbidden,
    )
    expect(await statusesOf(id, carol, ['read', 'move', 'dyndns', 'suspend'])).toEqual([200, 200, 200, 403])
    expect(await statusesOf(id, bob, ['read', 'move'])).toEqual([404, 404])
    expect(await statusesOf(id, names.idTag, ['read', 'move', 'dyndns', 'suspend'])).toEqual([
      200, 200, 200, 200,
    ])
  })

  test('that is active shows its registrar no mail address, nor finds it by that', async () => {
    const id = fresh()
    await names.register(id, { ownerIdTag: carol })
    const addressFor = async (asker: string) =>
      (await (await clientOf(asker)).call(getManagedIdentity, { params: { id } })).data.email
    const listed = async (asker: string, query: object) =>
      (await (await clientOf(asker)).call(listManagedIdentities, { query })).data.filter(({ idTag }) =>
        idTag.startsWith(`${id}.`),
      )
    expect(await addressFor(alice)).toBe(mailbox(id))
    expect(await listed(alice, { email: mailbox(id) })).toHaveLength(1)
    await names.activate(await names.refIdFor(mailbox(id)))
    expect(await addressFor(alice)).toBeUndefined()
    expect((await listed(alice, { limit: 200 }))[0]).not.toHaveProperty('email')
    for (const query of [{ email: mailbox(id) }, { q: mailbox(id) }, { q: '@example', cursor: '' }])
      expect(await listed(alice, query)).toEqual([])
    for (const asker of [carol, names.idTag]) {
      expect(await addressFor(asker)).toBe(mailbox(id))
      expect(await listed(asker, { email: mailbox(id) })).toMatchObject([{ email: mailbox(id) }])
    }
  })

  test('that is suspended obeys the provider alone, until that ends it', async () => {
    const id = fresh()
    await names.registerActive(id, { ownerIdTag: carol })
    const owner = await names.owner()
    const params = { id }
    const idTag = `${id}.names.localhost`
    const { data } = await owner.call(updateManagedIdentity, { params, body: { status: 'suspended' } })
    expect(data).toEqual({ idTag, dyndns: false, status: 'suspended' })
    expect(await statusesOf(id, carol, ['read', 'move', 'dyndns'])).toEqual([200, 409, 409])
    const ofCarol = await names.visit(carol)
    await expect(ofCarol.call(deleteManagedIdentity, { params })).rejects.toMatchObject(wrongState)
    const back = { status: 'active' } as const
    await expect(ofCarol.call(updateManagedIdentity, { params, body: back })).rejects.toMatchObject(
      wrongState,
    )
    await owner.call(updateManagedIdentity, { params, body: back })
    expect(await statusesOf(id, carol, ['move', 'dyndns'])).toEqual([200, 200])
    const { data: trail } = await owner.call(getAuditLog, { query: { limit: 10 } })
    expect(trail.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['identity.suspended', 'identity.resumed', 'identity.address-changed']),
    )
  })

  test('is no tenant’s of this server, nor is what lies below it', async () => {
    const id = fresh()
    await names.register(id)
    const idTag = `${id}.names.localhost`
    await expect(names.server.createTenant(idTag)).rejects.toMatchObject({ code: 'E-PROFILE-EXISTS' })
    for (const wanted of [idTag, `below.${idTag}`]) {
      const body = { idTag: wanted, type: 'domain' } as const
      const { data } = await names.server.client('home.localhost').call(verifyName, { body })
      expect(data.errors).toEqual(['E-PROFILE-EXISTS'])
    }
  })

  test('is named by its first label or whole, in any spelling', async () => {
    const id = fresh()
    await names.register(id)
    await names.register('first', { idTag: `first.${fresh()}.names.localhost` })
    const client = await names.visit(alice)
    for (const spelling of [id, id.toUpperCase(), `${id}.names.localhost`, `${id}.Names.localhost`]) {
      const { data } = await client.call(getManagedIdentity, { params: { id: spelling } })
      expect(data.idTag).toBe(`${id}.names.localhost`)
    }
    const { data } = await client.call(getManagedIdentity, { params: { id: 'first' } })
    expect(data.idTag).toMatch(/^first\.person\d+\.names\.localhost$/)
    for (const none of ['nobody', 'a b', 'alice.localhost', `${id}.elsewhere.localhost`])
      await expect(client.call(getManagedIdentity, { params: { id: none } })).rejects.toMatchObject(unknown)
  })

  test('that does not exist is like one of others', async () => {
    const id = fresh()
    await names.register(id)
    const stranger = await names.visit(bob)
    const answers = []
    for (const name of [id, 'nobody']) {
      const call = stranger.call(getManagedIdentity, { params: { id: name } })
      const { status, code, message } = await call.catch((error) => error)
      answers.push({ status, code, message })
    }
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]).toMatchObject(unknown)
  })
})

describe('an address', () => {
  async function put(id: string, body: object, headers: Record<string, string> = {}) {
    const client = await names.server.as(names.idTag)
    const token = (await client.call(getAccessToken, { query: { scope: 'write:idp' } })).data.token
    const response = await names.server.request(names.idTag, `/api/idp/identities/${id}/address`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify(body),
    })
    return (await response.json()) as { data: unknown; error?: { code: string } }
  }

  test('is given, or is where the request comes from as a trusted proxy says', async () => {
    const id = fresh()
    await names.register(id)
    const idTag = `${id}.names.localhost`
    const answered = { idTag, addressUpdatedAt: nowSecs(), status: 'pending' }
    const forwarded = { 'x-forwarded-for': '198.51.100.1, 203.0.113.5' }
    expect((await put(id, { address: 'Edge.Example.net' })).data).toEqual({
      ...answered,
      address: 'edge.example.net',
    })
    expect((await put(id, { autoAddress: true }, forwarded)).data).toEqual({
      ...answered,
      address: '203.0.113.5',
    })
    const both = await put(id, { autoAddress: true, address: '198.51.100.2' }, forwarded)
    expect(both.data).toMatchObject({ address: '198.51.100.2' })
  })

  test.each([{}, { autoAddress: false }, { address: '' }, { address: 'a b' }, { address: 7 }])(
    'that is none is refused: %o',
    async (body) => {
      const id = fresh()
      await names.register(id)
      expect((await put(id, body)).error?.code).toBe('E-VALIDATION')
    },
  )

  test('cannot be the name itself', async () => {
    const id = fresh()
    await names.register(id)
    expect((await put(id, { address: `${id}.names.localhost` })).error?.code).toBe('E-VALIDATION')
  })

  test('that comes straight is not what a forged header says', async () => {
    await using plain = await NameProvider.start()
    await plain.register('plain')
    const owner = await plain.owner()
    const { data } = await owner.call(getAccessToken, { query: { scope: 'write:idp' } })
    const response = await plain.server.request(plain.idTag, '/api/idp/identities/plain/address', {
      method: 'PUT',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${data.token}`,
        'x-forwarded-for': '203.0.113.5',
      },
      body: JSON.stringify({ autoAddress: true }),
    })
    expect(((await response.json()) as { data: object }).data).toMatchObject({ address: '127.0.0.1' })
  })
})

describe('a released name', () => {
  test('rests for 30 days, but for the provider’s owner', async () => {
    const id = fresh()
    const idTag = `${id}.names.localhost`
    await names.registerActive(id, { ownerIdTag: carol })
    const { data } = await (await names.visit(carol)).call(deleteManagedIdentity, { params: { id } })
    expect(data).toEqual({ deleted: true, idTag })
    await expect((await names.owner()).call(getManagedIdentity, { params: { id } })).rejects.toMatchObject(
      unknown,
    )
    for (const asker of [undefined, alice, carol]) expect(await isFree(idTag, asker)).toBe(false)
    expect(await isFree(idTag, names.idTag)).toBe(true)
    await expect(names.register(id)).rejects.toMatchObject(taken)
    names.server.clock.advance(30 * dayMs)
    expect(await isFree(idTag)).toBe(true)
    expect(await names.register(id)).toMatchObject({ status: 'pending' })
  })

  test('takes nothing along to whoever has it next', async () => {
    const id = fresh()
    const idTag = `${id}.names.localhost` as IdTag
    await names.registerActive(id, { ownerIdTag: carol })
    const { server } = names
    await server.relate(alice, idTag, { connection: 'connected', isFollower: true })
    const tenant = await server.running.features.identity.tenants.find(alice as IdTag)
    const known = () => findRelation(server.db.reader(tenant?.tenantId as never), idTag)
    expect(await known()).toBeDefined()
    await (await names.visit(carol)).call(deleteManagedIdentity, { params: { id } })
    await server.settle()
    expect(await known()).toBeUndefined()
  })

  test('is let go by the provider’s owner at once, and by nobody else', async () => {
    const id = fresh()
    await names.registerActive(id, { ownerIdTag: carol })
    const params = { id }
    await (await names.visit(carol)).call(deleteManagedIdentity, { params })
    for (const asker of [alice, carol])
      await expect((await names.visit(asker)).call(deleteManagedIdentity, { params })).rejects.toMatchObject(
        unknown,
      )
    const owner = await names.owner()
    expect((await owner.call(deleteManagedIdentity, { params })).data).toMatchObject({ deleted: true })
    expect(await isFree(`${id}.names.localhost`)).toBe(true)
    await expect(owner.call(deleteManagedIdentity, { params })).rejects.toMatchObject(unknown)
  })

  test('that was pending can be had again by whoever had it', async () => {
    const id = fresh()
    await names.register(id)
    await (await names.visit(alice)).call(deleteManagedIdentity, { params: { id } })
    expect(await isFree(`${id}.names.localhost`)).toBe(false)
    expect(await isFree(`${id}.names.localhost`, bob)).toBe(false)
    expect(await isFree(`${id}.names.localhost`, alice)).toBe(true)
    expect(await names.register(id)).toMatchObject({ status: 'pending' })
  })
})

describe('the list', () => {
  test('shows everybody their own, the provider’s owner all, by any of the filters', async () => {
    const [one, two] = [fresh(), fresh()]
    await names.register(one, { ownerIdTag: carol, email: 'Anna_x@list.example' })
    await names.registerActive(two)
    const tagsOf = async (asker: string, query: object = {}) => {
      const client = await clientOf(asker)
      const { data } = await client.call(listManagedIdentities, { query: { limit: 200, ...query } })
      return data.map(({ idTag }) => idTag.split('.')[0])
    }
    expect(await tagsOf(carol)).toContain(one)
    expect(await tagsOf(carol)).not.toContain(two)
    expect(await tagsOf(alice)).toEqual(expect.arrayContaining([one, two]))
    expect(await tagsOf(bob)).toEqual([])
    expect(await tagsOf(names.idTag)).toEqual(expect.arrayContaining([one, two]))
    expect(await tagsOf(names.idTag, { email: 'anna_X@' })).toEqual([one])
    expect(await tagsOf(names.idTag, { email: 'anna%' })).toEqual([])
    expect(await tagsOf(bob, { email: 'anna' })).toEqual([])
    expect(await tagsOf(names.idTag, { q: one })).toEqual([one])
    expect(await tagsOf(names.idTag, { q: 'list.example' })).toEqual([one])
    expect(await tagsOf(alice, { ownerIdTag: carol, status: 'pending' })).toContain(one)
    expect(await tagsOf(alice, { status: 'active' })).not.toContain(one)
    expect(await tagsOf(names.idTag, { registrarIdTag: bob })).toEqual([])
    const wrong = (await names.owner()).call(listManagedIdentities, { query: { status: 'gone' as never } })
    await expect(wrong).rejects.toMatchObject({ code: 'E-VALIDATION' })
  })

  test('comes in pages, by offset or by cursor', async () => {
    for (let turn = 0; turn < 3; turn += 1) await names.register(fresh(), { ownerIdTag: 'pages.localhost' })
    const owner = await names.owner()
    const query = { ownerIdTag: 'pages.localhost', limit: 2 }
    const all = await owner.call(listManagedIdentities, { query: { ...query, limit: 3 } })
    const byOffset = await owner.call(listManagedIdentities, { query: { ...query, offset: 2 } })
    expect(byOffset.data).toEqual(all.data.slice(2))
    expect(byOffset.pagination).toEqual({ total: 3, offset: 2, limit: 2, hasMore: false })
    const first = await owner.call(listManagedIdentities, { query: { ...query, cursor: '' } })
    expect(first.data).toEqual(all.data.slice(0, 2))
    const cursor = first.cursorPagination?.nextCursor ?? '?'
    const last = await owner.call(listManagedIdentities, { query: { ...query, cursor } })
    expect(last.data).toEqual(all.data.slice(2))
    expect(last.cursorPagination).toEqual({ nextCursor: null, hasMore: false })
    const bad = owner.call(listManagedIdentities, { query: { cursor: 'x' } })
    await expect(bad).rejects.toMatchObject({ code: 'E-VALIDATION' })
  })
})

describe('time', () => {
  const sweep = async (ms: number) => {
    names.server.clock.advance(ms)
    await names.server.settle()
    names.server.clock.advance(3_600_000)
    await names.server.settle()
  }

  test('takes a name that nobody activates after seven days, for others to have', async () => {
    const id = fresh()
    await names.register(id)
    await sweep(6 * dayMs)
    expect(await isFree(`${id}.names.localhost`)).toBe(false)
    await sweep(dayMs)
    expect(await isFree(`${id}.names.localhost`)).toBe(true)
  })

  test('takes an active one a year and 30 days after its owner was last there, and then it rests', async () => {
    const [seen, unseen] = [fresh(), fresh()]
    for (const id of [seen, unseen]) await names.registerActive(id, { ownerIdTag: carol })
    await sweep(300 * dayMs)
    const { data } = await (await names.visit(carol)).call(getManagedIdentity, { params: { id: seen } })
    expect(data.status).toBe('active')
    await sweep(70 * dayMs)
    const missed = await (await names.owner()).call(getManagedIdentity, { params: { id: unseen } })
    expect(missed.data.status).toBe('active')
    await sweep(30 * dayMs)
    const owner = await names.owner()
    const { data: kept } = await owner.call(getManagedIdentity, { params: { id: seen } })
    expect(kept.lastLoginAt).toEqual(expect.any(String))
    await expect(owner.call(getManagedIdentity, { params: { id: unseen } })).rejects.toMatchObject(unknown)
    expect(await isFree(`${unseen}.names.localhost`)).toBe(false)
    await sweep(30 * dayMs)
    expect(await isFree(`${unseen}.names.localhost`)).toBe(true)
  })

  test('leaves a suspended one alone', async () => {
    const id = fresh()
    await names.registerActive(id)
    const params = { id }
    await (await names.owner()).call(updateManagedIdentity, { params, body: { status: 'suspended' } })
    await sweep(400 * dayMs)
    const { data } = await (await names.owner()).call(getManagedIdentity, { params })
    expect(data.status).toBe('suspended')
  })
})
