import {
  checkAvailability,
  createIdentityKey,
  createManagedIdentity,
  deleteIdentityKey,
  deleteManagedIdentity,
  getAuditLog,
  getManagedIdentity,
  listManagedIdentities,
  setIdentityAddress,
  toIso,
  updateManagedIdentity,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mailbox, NameProvider } from '#harness/name-provider.ts'

const daySecs = 86_400
const alice = 'alice.localhost'
const bob = 'bob.localhost'
const carol = 'carol.localhost'
const taken = { status: 409, code: 'E-PROFILE-EXISTS' }

let names: NameProvider
let people = 0
beforeAll(async () => {
  names = await NameProvider.start()
})
afterAll(() => names[Symbol.asyncDispose]())

const fresh = () => `person${++people}`
const nowSecs = () => Math.floor(names.server.clock.now() / 1000)
const wait = (secs: number) => names.server.clock.advance(secs * 1000)

async function isFree(idTag: string, asker?: string): Promise<boolean> {
  const client = asker === undefined ? names.with() : await names.clientOf(asker)
  return (await client.call(checkAvailability, { query: { idTag } })).data.available
}

async function ask(idTag: string, asker: string) {
  const body = { idTag, ownerIdTag: carol }
  return (await (await names.clientOf(asker)).call(createManagedIdentity, { body })).data
}

async function release(id: string, asker: string) {
  return (await (await names.clientOf(asker)).call(deleteManagedIdentity, { params: { id } })).data
}

async function change(
  id: string,
  asker: string,
  body: { dyndns?: boolean; status?: 'active' | 'suspended' },
) {
  return (await (await names.clientOf(asker)).call(updateManagedIdentity, { params: { id }, body })).data
}

async function read(id: string, asker = names.idTag) {
  return (await (await names.clientOf(asker)).call(getManagedIdentity, { params: { id } })).data
}

describe('a name rests for 30 days to the second', () => {
  async function expectRest(idTag: string): Promise<void> {
    const askers = [undefined, carol, alice, bob]
    const free = () => Promise.all(askers.map((asker) => isFree(idTag, asker)))
    const expectTaken = async () => {
      expect(await free()).toEqual([false, false, false, false])
      for (const asker of [carol, alice]) await expect(ask(idTag, asker)).rejects.toMatchObject(taken)
    }
    await expectTaken()
    wait(30 * daySecs - 1)
    await expectTaken()
    wait(1)
    expect(await free()).toEqual([true, true, true, true])
    expect(await ask(idTag, bob)).toMatchObject({ idTag, status: 'pending', registrarIdTag: bob })
  }

  test('after its release', async () => {
    const id = fresh()
    const { idTag } = await names.registerActive(id, { ownerIdTag: carol })
    await release(id, carol)
    await expectRest(idTag)
  })

  test('unless it was pending, for the registrar that had it', async () => {
    const id = fresh()
    const { idTag } = await names.register(id, { ownerIdTag: carol })
    await release(id, alice)
    wait(30 * daySecs - 1)
    const asked = [isFree(idTag), isFree(idTag, carol), isFree(idTag, bob), isFree(idTag, alice)]
    expect(await Promise.all(asked)).toEqual([false, false, false, true])
    await expect(ask(idTag, carol)).rejects.toMatchObject(taken)
    wait(1)
    expect(await isFree(idTag)).toBe(true)
  })
})

describe('a mailed reference', () => {
  test.each([
    [24 * 3600 - 1, 200],
    [24 * 3600, 410],
  ])('is worth after %i seconds: %i', async (secs, status) => {
    const id = fresh()
    await names.register(id)
    const refId = await names.refIdFor(mailbox(id))
    wait(secs)
    const answer = await names.server.request(names.idTag, '/api/idp/activate', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refId }),
    })
    expect(answer.status).toBe(status)
    expect((await read(id)).status).toBe(status === 200 ? 'active' : 'pending')
  })
})

describe('the times of a name', () => {
  test('say when it was made, changed and moved', async () => {
    const id = fresh()
    const made = await names.registerActive(id, { ownerIdTag: carol, address: '198.51.100.7' })
    const { createdAt } = made
    const times = async () => {
      const { createdAt, updatedAt, addressUpdatedAt } = await read(id)
      return { createdAt, updatedAt, addressUpdatedAt }
    }
    wait(10)
    const movedAt = nowSecs()
    const ofCarol = await names.visit(carol)
    const body = { address: '198.51.100.8' }
    const { data } = await ofCarol.call(setIdentityAddress, { params: { id }, body })
    expect(data.addressUpdatedAt).toBe(movedAt)
    expect(movedAt).toBe(createdAt + 10)
    expect(await times()).toEqual({ createdAt, updatedAt: movedAt, addressUpdatedAt: movedAt })
    wait(10)
    await change(id, carol, { dyndns: true })
    const changed = { createdAt, updatedAt: movedAt + 10, addressUpdatedAt: movedAt }
    expect(await times()).toEqual(changed)
    wait(10)
    await change(id, carol, {})
    expect(await times()).toEqual(changed)
  })

  test('say when its owner was seen, and nobody else', async () => {
    const id = fresh()
    const { idTag } = await names.registerActive(id, { ownerIdTag: carol })
    const seenBy = async (asker: string) => (await read(id, asker)).lastLoginAt
    for (const asker of [alice, names.idTag, alice, names.idTag]) {
      expect(await read(id, asker)).not.toHaveProperty('lastLoginAt')
      const { data } = await (await names.clientOf(asker)).call(listManagedIdentities, { query: { q: id } })
      expect(data.find((one) => one.idTag === idTag)).not.toHaveProperty('lastLoginAt')
      wait(3600)
    }
    const seenAt = toIso(nowSecs())
    await read(id, carol)
    wait(2 * 3600)
    expect([await seenBy(alice), await seenBy(names.idTag), await seenBy(alice)]).toEqual([
      seenAt,
      seenAt,
      seenAt,
    ])
    const seenAgain = toIso(nowSecs())
    await read(id, carol)
    expect(await seenBy(names.idTag)).toBe(seenAgain)
  })

  test('give it a year when its suspension ends', async () => {
    const id = fresh()
    await names.registerActive(id, { ownerIdTag: carol })
    const { expiresAt } = await read(id)
    await change(id, names.idTag, { status: 'suspended' })
    wait(daySecs)
    expect(await read(id)).toMatchObject({ status: 'suspended', expiresAt })
    await change(id, names.idTag, { status: 'active' })
    expect(await read(id)).toMatchObject({ status: 'active', expiresAt: nowSecs() + 365 * daySecs })
  })
})

describe('the audit trail of the provider', () => {
  async function linesOf(idTag: string) {
    const { data } = await (await names.owner()).call(getAuditLog, { query: { limit: 200 } })
    return data.filter(({ details }) => details?.idTag === idTag).reverse()
  }

  test('has a line of each release, and of each name that is let go', async () => {
    const id = fresh()
    const { idTag } = await names.registerActive(id, { ownerIdTag: carol })
    wait(1)
    await release(id, carol)
    wait(1)
    await release(id, names.idTag)
    const lines = await linesOf(idTag)
    // Those before are of the same moment.
    expect(lines.slice(2)).toMatchObject([
      { event: 'identity.released', actorTag: carol, details: { idTag, status: 'active' } },
      { event: 'identity.freed', actorTag: names.idTag, details: { idTag } },
    ])
    expect(lines).toHaveLength(4)
  })

  test('has a line of each key that is made or ended, without the key', async () => {
    const id = fresh()
    const { idTag } = await names.registerActive(id, { ownerIdTag: carol })
    const ofCarol = await names.visit(carol)
    const { data } = await ofCarol.call(createIdentityKey, { body: { idTag, name: 'router' } })
    const { id: keyId } = data.apiKey
    wait(1)
    const owner = await names.owner()
    await owner.call(deleteIdentityKey, { params: { id: String(keyId) }, query: {} })
    const lines = (await linesOf(idTag)).filter(({ event }) => event.startsWith('identity-key.'))
    expect(lines).toMatchObject([
      { event: 'identity-key.created', actorTag: carol, details: { idTag, keyId } },
      { event: 'identity-key.deleted', actorTag: names.idTag, details: { idTag, keyId } },
    ])
    expect(JSON.stringify(lines)).not.toContain(data.plaintextKey.slice(8))
  })
})
