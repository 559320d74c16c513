import {
  activateIdentity,
  allContracts,
  createApiKey,
  createIdentityKey,
  createManagedIdentity,
  deleteIdentityKey,
  deleteManagedIdentity,
  getAccessToken,
  getIdentityKey,
  getManagedIdentity,
  getProxyToken,
  listIdentityKeys,
  putSetting,
  setIdentityAddress,
  updateManagedIdentity,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mailbox, NameProvider } from '#harness/name-provider.ts'

const alice = 'alice.localhost'
const bob = 'bob.localhost'
const carol = 'carol.localhost'
const unknown = { status: 404, code: 'E-NOTFOUND' }
const forbidden = { status: 403, code: 'E-AUTH-FORBIDDEN' }
const unauthenticated = { status: 401, code: 'E-AUTH-UNAUTH' }

let names: NameProvider
let people = 0
beforeAll(async () => {
  names = await NameProvider.start()
})
afterAll(() => names[Symbol.asyncDispose]())

const fresh = () => `person${++people}`
const nowSecs = () => Math.floor(names.server.clock.now() / 1000)

/** An active name of carol's, with a key. */
async function keyed() {
  const id = fresh()
  const idTag = `${id}.names.localhost`
  await names.registerActive(id, { ownerIdTag: carol })
  const ofCarol = await names.visit(carol)
  const { data } = await ofCarol.call(createIdentityKey, { body: { idTag, name: 'router' } })
  return { id, idTag, keyId: String(data.apiKey.id), key: data.plaintextKey, made: data }
}

describe('a key of an identity', () => {
  test('is shown once, when it is made', async () => {
    const { idTag, key, made, keyId } = await keyed()
    expect(key).toMatch(/^idp_[A-Za-z0-9_-]{43}$/)
    expect(made.apiKey).toEqual({
      id: expect.any(Number),
      idTag,
      keyPrefix: key.slice(0, 8),
      name: 'router',
      createdAt: nowSecs(),
      lastUsedAt: null,
    })
    const ofCarol = await names.visit(carol)
    const { data } = await ofCarol.call(getIdentityKey, { params: { id: keyId } })
    expect(data).toEqual(made.apiKey)
    expect(JSON.stringify(data)).not.toContain(key)
  })

  test('is not to be read from the database', async () => {
    const { key } = await keyed()
    const tables = names.server.db.reader(1 as never).tables<{ identity_keys: object }>()
    const rows = await tables.selectFrom('identity_keys').selectAll().execute()
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(key.slice(8))
  })

  test('comes with the name when that is asked for', async () => {
    const { apiKey, idTag } = await names.register(fresh(), { createApiKey: true, apiKeyName: 'router' })
    const machine = names.with(apiKey)
    expect((await machine.call(getManagedIdentity, { params: { id: idTag } })).data.status).toBe('pending')
    const { data } = await (await names.visit(alice)).call(listIdentityKeys, {
      query: { idTag: idTag as never },
    })
    expect(data).toMatchObject([{ idTag, name: 'router', keyPrefix: apiKey?.slice(0, 8) }])
    const plain = await names.register(fresh())
    expect(plain).not.toHaveProperty('apiKey')
  })

  test('reads its identity and says where that is', async () => {
    const { id, idTag, key, keyId } = await keyed()
    const machine = names.with(key)
    const params = { id }
    const { data } = await machine.call(setIdentityAddress, { params, body: { autoAddress: true } })
    expect(data).toEqual({ idTag, address: '127.0.0.1', addressUpdatedAt: nowSecs(), status: 'active' })
    const { data: identity } = await machine.call(getManagedIdentity, { params })
    expect(identity).toMatchObject({ address: '127.0.0.1', lastLoginAt: expect.any(String) })
    const { data: used } = await (await names.owner()).call(getIdentityKey, { params: { id: keyId } })
    expect(used.lastUsedAt).toBe(nowSecs())
  })

  test('does nothing else', async () => {
    const { key } = await keyed()
    const open = new Set(['getManagedIdentity', 'setIdentityAddress'])
    for (const contract of allContracts.filter(({ name, auth }) => auth !== 'none' && !open.has(name))) {
      names.server.clock.advance(1_100)
      const path = contract.path.replace(/\{(\w+)\*?\}/g, '1')
      const response = await names.server.request(names.idTag, path, {
        method: contract.method,
        headers: { authorization: `Bearer ${key}` },
      })
      expect({ name: contract.name, status: response.status }).toEqual({ name: contract.name, status: 403 })
    }
  })

  test('is nothing for another identity', async () => {
    const [one, other] = [await keyed(), await keyed()]
    const machine = names.with(one.key)
    const params = { id: other.id }
    await expect(machine.call(getManagedIdentity, { params })).rejects.toMatchObject(unknown)
    const move = machine.call(setIdentityAddress, { params, body: { address: '198.51.100.9' } })
    await expect(move).rejects.toMatchObject(unknown)
  })

  test('is nothing on another host, nor where the provider is off', async () => {
    const { key } = await keyed()
    const elsewhere = names.server.client(bob, key)
    const read = { params: { id: '1' } }
    await expect(elsewhere.call(getManagedIdentity, read)).rejects.toMatchObject(unknown)
    await (await names.server.as(bob)).call(putSetting, {
      params: { name: 'idp.enabled' },
      body: { value: true },
    })
    await expect(elsewhere.call(getManagedIdentity, read)).rejects.toMatchObject(unauthenticated)
  })

  test('has a name that can be seen', async () => {
    const { idTag } = await keyed()
    const ofCarol = await names.visit(carol)
    for (const name of [' ', '\u200b', 'router\u202e'])
      await expect(ofCarol.call(createIdentityKey, { body: { idTag, name } })).rejects.toMatchObject({
        status: 400,
        code: 'E-VALIDATION',
      })
  })

  test('that was made before the activation ends with it, unless the owner keeps it', async () => {
    for (const keepKeys of [undefined, false, true]) {
      const id = fresh()
      const { apiKey, idTag } = await names.register(id, { createApiKey: true, ownerIdTag: carol })
      const registrar = await names.visit(alice)
      const { data: made } = await registrar.call(createIdentityKey, { body: { idTag } })
      const refId = await names.refIdFor(mailbox(id))
      await names
        .with()
        .call(activateIdentity, { body: { refId, ...(keepKeys === undefined ? {} : { keepKeys }) } })
      for (const key of [apiKey, made.plaintextKey]) {
        const reading = names.with(key).call(getManagedIdentity, { params: { id } })
        if (keepKeys) expect((await reading).data.status).toBe('active')
        else await expect(reading).rejects.toMatchObject(unauthenticated)
      }
      await expect(registrar.call(createIdentityKey, { body: { idTag } })).rejects.toMatchObject(forbidden)
      await expect(
        registrar.call(updateManagedIdentity, { params: { id }, body: { dyndns: true } }),
      ).rejects.toMatchObject(forbidden)
    }
  })

  test('that was invented is refused', async () => {
    const { key } = await keyed()
    for (const invented of [
      `idp_${'A'.repeat(43)}`,
      `${key.slice(0, -1)}x`,
      `sk_${key.slice(4)}`,
      'idp_',
      'idp_x',
    ])
      await expect(
        names.with(invented).call(getManagedIdentity, { params: { id: '1' } }),
      ).rejects.toMatchObject(unauthenticated)
  })

  test('ends when it says, when it is deleted, and with its identity', async () => {
    const { id, idTag, key, keyId } = await keyed()
    const ofCarol = async () => names.visit(carol)
    const read = (bearer: string) => names.with(bearer).call(getManagedIdentity, { params: { id } })
    const expiresAt = nowSecs() + 60
    const { data } = await (await ofCarol()).call(createIdentityKey, { body: { idTag, expiresAt } })
    expect(data.apiKey.expiresAt).toBe(expiresAt)
    await read(data.plaintextKey)
    names.server.clock.advance(60_000)
    await expect(read(data.plaintextKey)).rejects.toMatchObject(unauthenticated)
    const late = (await ofCarol()).call(createIdentityKey, { body: { idTag, expiresAt } })
    await expect(late).rejects.toMatchObject({ code: 'E-VALIDATION' })

    const deleted = await (await ofCarol()).call(deleteIdentityKey, { params: { id: keyId }, query: {} })
    expect(deleted.data).toEqual({ deleted: true, id: Number(keyId) })
    await expect(read(key)).rejects.toMatchObject(unauthenticated)

    const { data: last } = await (await ofCarol()).call(createIdentityKey, { body: { idTag } })
    await (await ofCarol()).call(deleteManagedIdentity, { params: { id } })
    await expect(read(last.plaintextKey)).rejects.toMatchObject(unauthenticated)
  })

  test('of a suspended identity reads it still', async () => {
    const { id, key } = await keyed()
    const params = { id }
    await (await names.owner()).call(updateManagedIdentity, { params, body: { status: 'suspended' } })
    const machine = names.with(key)
    expect((await machine.call(getManagedIdentity, { params })).data.status).toBe('suspended')
    const move = machine.call(setIdentityAddress, { params, body: { autoAddress: true } })
    await expect(move).rejects.toMatchObject({ code: 'E-STATE' })
  })
})

describe('keys', () => {
  test('of a suspended identity are made by the provider alone, and ended by its owner too', async () => {
    const { id, idTag, key, keyId } = await keyed()
    const owner = await names.owner()
    await owner.call(updateManagedIdentity, { params: { id }, body: { status: 'suspended' } })
    const ofCarol = await names.visit(carol)
    const make = (client: typeof owner) => client.call(createIdentityKey, { body: { idTag } })
    await expect(make(ofCarol)).rejects.toMatchObject({ status: 409, code: 'E-STATE' })
    const { data: made } = await make(owner)
    expect(made.apiKey.idTag).toBe(idTag)
    for (const [ended, of] of [
      [keyId, key],
      [String(made.apiKey.id), made.plaintextKey],
    ] as const) {
      const { data } = await ofCarol.call(deleteIdentityKey, { params: { id: ended }, query: {} })
      expect(data).toEqual({ deleted: true, id: Number(ended) })
      const reading = names.with(of).call(getManagedIdentity, { params: { id } })
      await expect(reading).rejects.toMatchObject(unauthenticated)
    }
  })

  test('are made, seen and ended by whoever may change the identity', async () => {
    const pending = await names.register(fresh(), { ownerIdTag: carol })
    const { idTag: active, keyId } = await keyed()
    const make = async (asker: string, idTag: string) =>
      (asker === names.idTag ? names.owner() : names.visit(asker))
        .then((client) => client.call(createIdentityKey, { body: { idTag } }))
        .then(
          ({ data }) => String(data.apiKey.id),
          (error) => error.status as number,
        )
    const ofPending = await make(alice, pending.idTag)
    expect(ofPending).toEqual(expect.any(String))
    expect(await make(carol, pending.idTag)).toEqual(expect.any(String))
    expect(await make(bob, pending.idTag)).toBe(404)
    expect(await make(alice, active)).toBe(403)
    expect(await make(names.idTag, active)).toEqual(expect.any(String))
    expect(await make(bob, active)).toBe(404)
    const idsFor = async (asker: string) => {
      const client = asker === names.idTag ? await names.owner() : await names.visit(asker)
      const { data } = await client.call(listIdentityKeys, { query: { limit: 200 } })
      return data.map(({ id }) => String(id))
    }
    expect(await idsFor(alice)).toContain(ofPending)
    expect(await idsFor(alice)).not.toContain(keyId)
    expect(await idsFor(carol)).toEqual(expect.arrayContaining([ofPending as string, keyId]))
    expect(await idsFor(bob)).toEqual([])
    expect(await idsFor(names.idTag)).toEqual(expect.arrayContaining([ofPending as string, keyId]))
    for (const asker of [alice, bob]) {
      const client = await names.visit(asker)
      for (const id of [keyId, '999999', 'x', '0', '1e3']) {
        await expect(client.call(getIdentityKey, { params: { id } })).rejects.toMatchObject(unknown)
        await expect(client.call(deleteIdentityKey, { params: { id }, query: {} })).rejects.toMatchObject(
          unknown,
        )
      }
    }
    const owner = await names.owner()
    const other = owner.call(deleteIdentityKey, { params: { id: keyId }, query: { idTag: pending.idTag } })
    await expect(other).rejects.toMatchObject(unknown)
    const query = { idTag: active }
    const { data } = await owner.call(deleteIdentityKey, { params: { id: keyId }, query })
    expect(data.deleted).toBe(true)
  })

  test('are made with full rights or those to administer names', async () => {
    const { data: pending } = { data: await names.register(fresh()) }
    const owner = await names.owner()
    const body = { idTag: pending.idTag }
    for (const [scope, status] of [
      ['write:idp', 403],
      ['admin:idp', 201],
    ] as const) {
      const { data } = await owner.call(getAccessToken, { query: { scope } })
      const made = names.with(data.token).call(createIdentityKey, { body })
      if (status === 403) await expect(made).rejects.toMatchObject(forbidden)
      else expect((await made).data.apiKey.idTag).toBe(pending.idTag)
    }
  })

  test('are made by no API key, also from elsewhere', async () => {
    const id = fresh()
    await names.registerActive(id, { ownerIdTag: carol })
    const body = { idTag: `${id}.names.localhost` }
    const keyOf = async (idTag: string) =>
      (await (await names.server.as(idTag)).call(createApiKey, { body: { name: 'ci' } })).data.key
    const ofCarol = await names.server
      .client(carol, await keyOf(carol))
      .call(getProxyToken, { query: { target: names.idTag } })
    for (const bearer of [await keyOf(names.idTag), ofCarol.data.token])
      await expect(names.with(bearer).call(createIdentityKey, { body })).rejects.toMatchObject(forbidden)
  })

  test('are made with a name by those who may make them alone', async () => {
    const owner = await names.owner()
    const key = (await owner.call(createApiKey, { body: { name: 'ci' } })).data.key
    const scoped = async (scope: string) =>
      (await owner.call(getAccessToken, { query: { scope } })).data.token
    for (const [bearer, isAllowed] of [
      [key, false],
      [await scoped('write:idp'), false],
      [await scoped('admin:idp'), true],
    ] as const) {
      const body = { idTag: `${fresh()}.names.localhost`, email: 'b@example.org' }
      names.server.clock.advance(120_000)
      const ask = (more: object) =>
        names.with(bearer).call(createManagedIdentity, { body: { ...body, ...more } as never })
      if (isAllowed) expect((await ask({ createApiKey: true })).data.apiKey).toMatch(/^idp_/)
      else {
        await expect(ask({ createApiKey: true })).rejects.toMatchObject(forbidden)
        expect((await ask({})).data.apiKey).toBeUndefined()
      }
    }
  })

  test.each([' ', '\u200b', 'router\u202e'])('are not made with a name and called %j', async (apiKeyName) => {
    const wish = { createApiKey: true, apiKeyName }
    const issue = expect.objectContaining({ path: '/apiKeyName' })
    await expect(names.register(fresh(), wish)).rejects.toMatchObject({
      status: 400,
      details: { issues: [issue] },
    })
  })

  test('are twenty for one identity at most, in pages', async () => {
    const { idTag } = await keyed()
    const owner = await names.owner()
    for (let turn = 1; turn < 20; turn += 1) await owner.call(createIdentityKey, { body: { idTag } })
    await expect(owner.call(createIdentityKey, { body: { idTag } })).rejects.toMatchObject({
      code: 'E-STATE',
    })
    const { data, pagination } = await owner.call(listIdentityKeys, {
      query: { idTag, limit: 15, offset: 15 },
    })
    expect(data).toHaveLength(5)
    expect(pagination).toEqual({ total: 20, offset: 15, limit: 15, hasMore: false })
  })

  test('without an identity are of the caller, if that is one', async () => {
    await expect((await names.visit(bob)).call(createIdentityKey, {})).rejects.toMatchObject(unknown)
  })
})
