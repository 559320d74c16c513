import { getProxyToken, listActions } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withdrawSignedLater } from '#features/actions/index.ts'
import type { ForeignServer } from '#harness/foreign-server.ts'
import { TestNetwork } from '#harness/test-network.ts'
import { feedOf, follow, post } from './acts.ts'

const minuteMs = 60_000
const eve = 'eve.foreign.localhost'

describe('a key that was stolen', () => {
  let network: TestNetwork
  let foreign: ForeignServer

  beforeAll(async () => {
    network = await TestNetwork.start(2)
    foreign = await network.addForeign(eve)
  })
  afterAll(() => network[Symbol.asyncDispose]())

  const now = () => Math.floor(network.clock.now() / 1000)

  test('is distrusted by others as soon as they meet the new one', async () => {
    const { bob } = await network.cast('bob')
    const server = network.server(bob.at)
    await server.relate(bob.idTag, eve, { isFollowing: true })
    const say = (text: string, members: object = {}, kid?: string) =>
      foreign.sign(eve, { visibility: 'P', content: { text }, ...members }, kid === undefined ? {} : { kid })
    const give = async (token: string) => {
      const { status } = await server.deliver(token)
      await network.settle()
      return status
    }

    await give(say('Before the theft'))
    network.clock.advance(10 * minuteMs)
    const stolenAt = now()
    const forged = say('Win a prize')
    await give(forged)
    await give(say('Dated back by its text', { createdAt: stolenAt - 9999 }))
    expect(await feedOf(bob)).toHaveLength(3)

    network.clock.advance(10 * minuteMs)
    const stolen = foreign.revoke(eve, stolenAt)
    expect(await give(say('With the new key'))).toBe(200)
    expect(await feedOf(bob)).toEqual(['With the new key', 'Before the theft'])

    expect(await give(forged)).toBe(401)
    expect(await give(say('Signed later', {}, stolen))).toBe(401)
    expect(await give(say('At that very second', { iat: stolenAt }, stolen))).toBe(401)
    expect(await give(say('A second before', { iat: stolenAt - 1 }, stolen))).toBe(200)
    expect(await feedOf(bob)).toEqual(['With the new key', 'A second before', 'Before the theft'])
  })

  test('is distrusted a day later where nobody met the new one', async () => {
    const { bob } = await network.cast('bob')
    const server = network.server(bob.at)
    await server.relate(bob.idTag, eve, { isFollowing: true })
    const forged = foreign.sign(eve, { visibility: 'P', content: { text: 'Win a prize' } })
    await server.deliver(forged)
    const stolen = foreign.revoke(eve, now())
    const later = foreign.sign(eve, { visibility: 'P', content: { text: 'And again' } }, { kid: stolen })
    await server.deliver(later)
    expect(await feedOf(bob)).toEqual(['And again', 'Win a prize'])
    network.clock.advance(25 * 3_600_000)
    const fresh = foreign.sign(eve, { visibility: 'P', content: { text: 'Late' } }, { kid: stolen })
    expect((await server.deliver(fresh)).status).toBe(401)
    await network.settle()
    expect(await feedOf(bob)).toEqual([])
  })

  test('opens no door any more, and takes nothing away at home', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    const carol = await network.person(0, 'carol')
    for (const reader of [bob, carol]) await follow(network, reader, alice)
    await post(network, alice, 'Mine')
    const { data } = await alice.client.call(getProxyToken, { query: { target: bob.idTag } })
    const visit = () => network.server(bob.at).client(bob.idTag, data.token).call(listActions, {})
    await visit()

    const { db, signingKeys, jobs } = network.server(alice.at).running.services
    const [current] = await signingKeys.list(alice.tenantId)
    await db.transact(alice.tenantId, async (tx) => {
      const since = now() - 60
      await signingKeys.revoke(tx, { kid: current?.kid ?? '', since })
      await withdrawSignedLater({ jobs }, tx, { issuerTag: alice.idTag, kid: current?.kid ?? '', since })
    })
    network.clock.advance(40_000)
    await post(network, alice, 'With the new key')
    await expect(visit()).rejects.toMatchObject({ status: 401 })
    expect(await feedOf(alice)).toEqual(['With the new key', 'Mine'])
    for (const reader of [bob, carol]) expect(await feedOf(reader)).toEqual(['With the new key'])
  })
})
