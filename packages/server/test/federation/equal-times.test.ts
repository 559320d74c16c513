import { createAction, deleteAction, type IdTag, listActions, setReaction } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findRelation } from '#features/relations/index.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { follow, post } from './acts.ts'

describe('several actions of one key within a second', () => {
  let network: TestNetwork
  beforeAll(async () => {
    network = await TestNetwork.start(2)
  })
  afterAll(() => network[Symbol.asyncDispose]())

  const followsAt = async (at: Person, follower: IdTag) =>
    (await findRelation(network.server(at.at).db.reader(at.tenantId), follower))?.isFollower === true
  const toggle = ({ client }: Person, audienceTag: IdTag, isEnd: boolean) =>
    client.call(createAction, { body: { type: 'FLLW', audienceTag, ...(isEnd ? { subType: 'DEL' } : {}) } })

  test.each([false, true])(
    'leave the state of the last at every server: ends with an end: %s',
    async (endsOff) => {
      const { alice, bob } = await network.cast('alice', 'bob')
      const turns = endsOff ? 12 : 11
      for (let n = 0; n < turns; n += 1) await toggle(alice, bob.idTag, n % 2 === 1)
      await network.settle()
      await network.pass(3000, 1000)
      expect(await followsAt(bob, alice.idTag)).toBe(!endsOff)
    },
  )

  test('never have the same iat, nor one in the future, when they leave', async () => {
    const { alice } = await network.cast('alice')
    const idTag = 'dora.equal.localhost' as IdTag
    const home = await network.addForeign(idTag)
    for (let n = 0; n < 40; n += 1) {
      await toggle(alice, idTag, n % 2 === 1)
      if (n % 7 === 0) await network.settle()
      for (const { iat } of home.deliveries)
        expect(iat).toBeLessThanOrEqual(Math.floor(network.clock.now() / 1000))
      if (n % 10 === 9) network.clock.advance(400)
    }
    await network.pass(3000, 500)
    const iats = home.deliveries.map(({ iat }) => iat)
    expect(new Set(iats).size).toBe(iats.length)
    expect(home.deliveries.at(-1)).toMatchObject({ type: 'FLLW', subType: 'DEL' })
    expect(iats.length).toBeLessThan(8)
  })

  test('of which one is deleted end as the last says', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    const { data } = await alice.client.call(createAction, { body: { type: 'FLLW', audienceTag: bob.idTag } })
    await alice.client.call(deleteAction, { params: { actionId: data.actionId } })
    await network.settle()
    await network.pass(2000, 1000)
    expect(await followsAt(bob, alice.idTag)).toBe(false)
    const again = await alice.client.call(createAction, { body: { type: 'FLLW', audienceTag: bob.idTag } })
    await alice.client.call(deleteAction, { params: { actionId: again.data.actionId } })
    await follow(network, alice, bob)
    await network.pass(3000, 1000)
    expect(await followsAt(bob, alice.idTag)).toBe(true)
  })

  test('do not reach into the future, however many reactions there are', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await follow(network, alice, bob)
    const { actionId } = await post(network, bob, 'Look')
    for (let n = 0; n < 45; n += 1)
      await alice.client.call(setReaction, {
        params: { actionId },
        body: { type: (['LIKE', 'LOVE', null] as const)[n % 3] ?? null },
      })
    await alice.client.call(setReaction, { params: { actionId }, body: { type: 'WOW' } })
    const row = await network
      .server(0)
      .db.reader(alice.tenantId)
      .tables<{ actions: { tenant_id: number; issued_at: number } }>()
      .selectFrom('actions')
      .select((eb) => eb.fn.max('issued_at').as('last'))
      .where('tenant_id', '=', alice.tenantId)
      .executeTakeFirstOrThrow()
    expect(Number(row.last)).toBeLessThanOrEqual(Math.floor(network.clock.now() / 1000) + 1)
    await network.settle()
    await network.pass(3000, 1000)
    const { data } = await bob.client.call(listActions, { query: { type: ['REACT'] } })
    expect(data).toMatchObject([{ subType: 'WOW' }])
  })

  test('that are made at the same time are all answered, and one of them stands', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await Promise.all(Array.from({ length: 6 }, (_, n) => toggle(alice, bob.idTag, n % 2 === 1)))
    await network.settle()
    await network.pass(3000, 1000)
    const own = await findRelation(network.server(0).db.reader(alice.tenantId), bob.idTag)
    expect(await followsAt(bob, alice.idTag)).toBe(own?.isFollowing === true)
  })
})
