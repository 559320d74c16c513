import {
  blockDomain,
  checkAvailability,
  createIdentityKey,
  createManagedIdentity,
  deleteManagedIdentity,
  deleteSetting,
  getManagedIdentity,
  identityKeyContracts,
  idpContracts,
  listIdentityKeys,
  listManagedIdentities,
  unblockDomain,
  updateManagedIdentity,
} from '@kith/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mailbox, NameProvider } from '#harness/name-provider.ts'

const bob = 'bob.localhost'
const carol = 'carol.localhost'
const unknown = { status: 404, code: 'E-NOTFOUND' }
const taken = { status: 409, code: 'E-PROFILE-EXISTS' }

let names: NameProvider
let people = 0
beforeAll(async () => {
  names = await NameProvider.start()
})
afterAll(() => names[Symbol.asyncDispose]())
// Questions of one address are counted.
beforeEach(() => names.server.clock.advance(60_000))

const fresh = () => `person${++people}`

async function isFree(label: string, asker?: string): Promise<boolean> {
  const client = asker === undefined ? names.with() : await names.clientOf(asker)
  const query = { idTag: `${label}.names.localhost` }
  return (await client.call(checkAvailability, { query })).data.available
}

function refused(path: string) {
  const issues = [expect.objectContaining({ path })]
  return { status: 400, code: 'E-VALIDATION', details: { issues } }
}

/** The answer to a request as it is on the wire. */
async function send(method: string, path: string, { as, body }: { as?: string; body?: object } = {}) {
  const response = await names.server.request(names.idTag, `/api/idp${path}`, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(as !== undefined && { authorization: `Bearer ${as}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect to be there
  return { status: response.status, json: (await response.json()) as any }
}

describe('names that are not given', () => {
  test('are those that the server reserves, and what looks like them', async () => {
    const reserved = ['frobnicate', 'fr0bnicate', 'deep.frobnicate']
    const given = 'support'
    expect(await isFree('frobnicate')).toBe(true)
    expect(await isFree(given)).toBe(false)
    await expect(names.register(given)).rejects.toMatchObject(refused('/idTag'))
    await names.setForServer('idp.reserved_names', ['frobnicate'])
    for (const label of reserved) {
      expect(await isFree(label)).toBe(false)
      await expect(names.register(label)).rejects.toMatchObject(refused('/idTag'))
    }
    expect(await isFree(given)).toBe(true)
    const as = await names.server.tokenOfSession(names.idTag)
    const body = { idTag: `${given}.names.localhost`, email: mailbox(given) }
    expect((await send('POST', '/identities', { as, body })).status).toBe(201)
    const admin = await names.server.as(names.server.baseIdTag)
    await admin.call(deleteSetting, { params: { name: 'idp.reserved_names' } })
    expect(await isFree('frobnicate')).toBe(true)
    expect(await isFree('postmaster')).toBe(false)
  })

  test('are those in a domain that the server blocks', async () => {
    const admin = await names.server.as(names.server.baseIdTag)
    const domain = 'evil.names.localhost'
    expect(await isFree('below.evil')).toBe(true)
    await admin.call(blockDomain, { body: { domain } })
    for (const label of ['evil', 'below.evil']) {
      for (const asker of [undefined, bob, names.idTag]) expect(await isFree(label, asker)).toBe(false)
      await expect(names.register(label)).rejects.toMatchObject(refused('/idTag'))
    }
    expect(await isFree('notevil')).toBe(true)
    await admin.call(unblockDomain, { params: { domain } })
    for (const label of ['evil', 'below.evil']) expect(await isFree(label)).toBe(true)
    expect(await names.register('evil')).toMatchObject({ status: 'pending' })
  })

  test('are those of tenants that were removed, for 30 days, whoever asks', async () => {
    const label = fresh()
    const idTag = `${label}.names.localhost`
    await names.server.createTenant(idTag)
    await names.server.suspend(idTag)
    await names.purge(idTag)
    const expectTaken = async () => {
      for (const asker of [undefined, bob, names.idTag]) {
        expect(await isFree(label, asker)).toBe(false)
        if (asker === undefined) continue
        const asked = (await names.clientOf(asker)).call(createManagedIdentity, {
          body: { idTag, ownerIdTag: carol },
        })
        await expect(asked).rejects.toMatchObject(taken)
      }
    }
    await expectTaken()
    names.server.clock.advance(30 * 86_400_000 - 1000)
    await expectTaken()
    names.server.clock.advance(1000)
    expect(await isFree(label)).toBe(true)
    expect(await names.register(label)).toMatchObject({ status: 'pending' })
  })
})

describe('what is there', () => {
  const paths = new Set(
    [...idpContracts, ...identityKeyContracts].map(({ path }) => path.replace('{id}', '1')),
  )

  test.each([...paths])('of a tenant that is no provider has no %s, for any method', async (path) => {
    const response = await names.server.request(bob, path, { method: 'PROPFIND' })
    const { error } = (await response.json()) as { error: { code: string } }
    expect({ status: response.status, code: error.code }).toEqual(unknown)
    expect(response.headers.get('allow')).toBeNull()
  })

  test('of a provider says which methods it takes', async () => {
    const response = await names.server.request(names.idTag, '/api/idp/info', { method: 'PUT' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('of a server that is not told where answers no DNS', () => {
    expect(names.server.running.dns).toBeUndefined()
  })
})

describe('an answer', () => {
  test('has the status of what was done', async () => {
    const id = fresh()
    const idTag = `${id}.names.localhost`
    const as = await names.server.tokenOfSession(names.idTag)
    const statuses: number[] = []
    const step = async (method: string, path: string, body?: object) => {
      const { status, json } = await send(method, path, { as, ...(body && { body }) })
      statuses.push(status)
      return json.data
    }
    await step('POST', '/identities', { idTag, email: mailbox(id) })
    const refId = await names.refIdFor(mailbox(id))
    await step('POST', '/activate', { refId })
    await step('PUT', `/identities/${id}/address`, { address: '198.51.100.7' })
    await step('PATCH', `/identities/${id}`, { dyndns: true })
    const { apiKey } = await step('POST', '/api-keys', { idTag })
    await step('DELETE', `/api-keys/${apiKey.id}`)
    await step('DELETE', `/identities/${id}`)
    await step('DELETE', `/identities/${id}`)
    expect(statuses).toEqual([201, 200, 200, 200, 201, 200, 200, 200])
  })

  test('says whether the address changes often, as it was last told', async () => {
    const id = fresh()
    const { idTag } = await names.registerActive(id, { ownerIdTag: carol })
    const ofCarol = await names.visit(carol)
    const shown = async () => {
      const { data: one } = await ofCarol.call(getManagedIdentity, { params: { id } })
      const { data: list } = await ofCarol.call(listManagedIdentities, { query: { q: id } })
      return [one.dyndns, list.find((each) => each.idTag === idTag)?.dyndns]
    }
    for (const [body, dyndns] of [
      [{}, false],
      [{ dyndns: true }, true],
      [{}, true],
      [{ dyndns: false }, false],
    ] as const) {
      const { data } = await ofCarol.call(updateManagedIdentity, { params: { id }, body })
      expect(data).toEqual({ idTag, dyndns, status: 'active' })
      expect(await shown()).toEqual([dyndns, dyndns])
    }
  })

  test.each<[string, string, object | undefined, string]>([
    ['GET', '/check-availability', undefined, '/query/idTag'],
    ['POST', '/activate', {}, '/refId'],
    ['POST', '/identities', { email: 'a@example.org' }, '/idTag'],
  ])('to %s %s without what it needs says what that is', async (method, path, body, missing) => {
    const as = await names.server.tokenOfSession(names.idTag)
    const { status, json } = await send(method, path, { as, ...(body && { body }) })
    expect([status, json.error.code]).toEqual([400, 'E-VALIDATION'])
    expect(json.error.details.issues).toEqual([expect.objectContaining({ path: missing })])
  })
})

describe('a list', () => {
  const first = { total: 21, offset: 0, limit: 20, hasMore: true }

  test('of names has twenty, unless it is asked for others', async () => {
    const keeper = 'names-keeper.localhost'
    await names.server.createTenant(keeper)
    const owner = await names.owner()
    for (let turn = 0; turn < 21; turn += 1) {
      const body = { idTag: `${fresh()}.names.localhost`, ownerIdTag: keeper }
      await owner.call(createManagedIdentity, { body })
    }
    const { data, pagination } = await (await names.visit(keeper)).call(listManagedIdentities, { query: {} })
    expect(data).toHaveLength(20)
    expect(pagination).toEqual(first)
  })

  test('of keys has twenty, unless it is asked for others', async () => {
    const keeper = 'keys-keeper.localhost'
    await names.server.createTenant(keeper)
    const owner = await names.owner()
    for (const count of [11, 10]) {
      const idTag = `${fresh()}.names.localhost`
      await owner.call(createManagedIdentity, { body: { idTag, ownerIdTag: keeper } })
      for (let turn = 0; turn < count; turn += 1) await owner.call(createIdentityKey, { body: { idTag } })
    }
    const { data, pagination } = await (await names.visit(keeper)).call(listIdentityKeys, { query: {} })
    expect(data).toHaveLength(20)
    expect(pagination).toEqual(first)
  })
})

describe('a release', () => {
  test('of a pending name is also its owner’s to make', async () => {
    const id = fresh()
    const { idTag } = await names.register(id, { ownerIdTag: carol })
    const { data } = await (await names.visit(carol)).call(deleteManagedIdentity, { params: { id } })
    expect(data).toEqual({ deleted: true, idTag })
    const owner = await names.owner()
    await expect(owner.call(getManagedIdentity, { params: { id } })).rejects.toMatchObject(unknown)
  })

  test.each(['pending', 'active'] as const)(
    'of a name that is %s is no stranger’s to make',
    async (status) => {
      const id = fresh()
      const wish = { ownerIdTag: carol }
      await (status === 'active' ? names.registerActive(id, wish) : names.register(id, wish))
      const asked = (await names.visit(bob)).call(deleteManagedIdentity, { params: { id } })
      await expect(asked).rejects.toMatchObject(unknown)
      const { data } = await (await names.owner()).call(getManagedIdentity, { params: { id } })
      expect(data.status).toBe(status)
    },
  )
})
