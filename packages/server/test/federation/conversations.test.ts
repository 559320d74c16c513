import {
  type Action,
  type ActionId,
  acceptAction,
  createAction,
  deleteAction,
  dismissAction,
  getAccessToken,
  getAction,
  listActions,
  listConversations,
  listDeliveries,
  listMessages,
  markConversationRead,
  type NewAction,
  type QueryOf,
  setReaction,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BusDevice } from '#harness/bus-client.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { feedOf, follow, post } from './acts.ts'

const minuteMs = 60_000

describe('people on three servers', () => {
  let network: TestNetwork
  beforeAll(async () => {
    network = await TestNetwork.start(3)
  })
  afterAll(() => network[Symbol.asyncDispose]())

  const say = async ({ client }: Person, body: NewAction): Promise<ActionId> => {
    const { data } = await client.call(createAction, { body })
    await network.settle()
    return data.actionId as ActionId
  }
  const read = async ({ client }: Person, actionId: ActionId): Promise<Action> =>
    (await client.call(getAction, { params: { actionId } })).data
  const textsOf = async ({ client }: Person, query: Partial<QueryOf<typeof listActions>>) =>
    (await client.call(listActions, { query })).data.map(({ content }) => content?.text)
  const take = async ({ client }: Person, actionId: ActionId) => {
    await client.call(deleteAction, { params: { actionId } })
    await network.settle()
  }
  const connect = async (one: Person, other: Person) => {
    const actionId = await say(one, { type: 'CONN', audienceTag: other.idTag })
    await other.client.call(acceptAction, { params: { actionId } })
    await network.settle()
  }

  test('write to each other, and each learns that it was read', async () => {
    const { alice, bob, carol } = await network.cast('alice', 'bob', 'carol')
    await connect(alice, bob)
    const question = await say(alice, { type: 'MSG', audienceTag: bob.idTag, content: { text: 'Tea?' } })
    expect(await textsOf(bob, { type: ['MSG'] })).toEqual(['Tea?'])
    await say(bob, { type: 'ACK', subject: question })
    expect(await read(alice, question)).toMatchObject({ x: { ackedAt: expect.any(Number) } })
    const { conversationId = '' } = (await alice.client.call(listConversations, {})).data[0] ?? {}
    const { data: messages } = await alice.client.call(listMessages, { params: { conversationId } })
    expect(messages).toMatchObject([{ actionId: question, x: { ackedAt: expect.any(Number) } }])

    await say(bob, { type: 'MSG', parentId: question, content: { text: 'With cake.' } })
    for (const person of [alice, bob])
      expect((await textsOf(person, { type: ['MSG'] })).toSorted()).toEqual(['Tea?', 'With cake.'])
    expect(await textsOf(carol, { type: ['MSG'] })).toEqual([])
  })

  test('have the same conversation on both sides, each with its own unread messages', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await connect(alice, bob)
    const conversationOf = async ({ client }: Person) => (await client.call(listConversations, {})).data[0]
    const markRead = async ({ client }: Person, conversationId: string, upTo: string) =>
      (await client.call(markConversationRead, { params: { conversationId }, body: { upTo } })).data.unread
    const question = await say(alice, { type: 'MSG', audienceTag: bob.idTag, content: { text: 'Tea?' } })
    const urging = await say(alice, { type: 'MSG', audienceTag: bob.idTag, content: { text: 'Now?' } })
    const [ofAlice, ofBob] = [await conversationOf(alice), await conversationOf(bob)]
    const conversationId = ofBob?.conversationId ?? ''
    expect(ofBob).toMatchObject({
      participants: [{ idTag: alice.idTag }],
      unread: 2,
      lastMessage: { actionId: urging, content: { text: 'Now?' } },
    })
    expect(ofAlice).toMatchObject({ conversationId, participants: [{ idTag: bob.idTag }], unread: 0 })

    const { data } = await bob.client.call(getAccessToken, {})
    const server = network.server(bob.at)
    await using device = await BusDevice.connect(server, bob.idTag, data.token)
    expect(await markRead(bob, conversationId, question)).toBe(1)
    expect((await device.told('CONVERSATION')).map((told) => told.data)).toEqual([
      { conversationId, unread: 1 },
    ])
    await network.settle()
    // Nobody else is told what was read.
    expect(await read(alice, question)).not.toHaveProperty('x.ackedAt')
    await say(bob, { type: 'MSG', parentId: question, content: { text: 'With cake.' } })
    expect(await conversationOf(alice)).toMatchObject({ conversationId, unread: 1 })
    await take(alice, urging)
    expect(await conversationOf(bob)).toMatchObject({ unread: 0, lastMessage: { issuerTag: bob.idTag } })
  })

  test('are not written to by somebody whom they neither follow nor are connected with', async () => {
    const { bob, carol } = await network.cast('alice', 'bob', 'carol')
    await say(carol, { type: 'MSG', audienceTag: bob.idTag, content: { text: 'Win a prize' } })
    expect(await textsOf(bob, { type: ['MSG'], status: ['A', 'C', 'N', 'P', 'D'] })).toEqual([])
  })

  test('comment on a post: its author is notified, everybody who reads it sees and counts it', async () => {
    const { alice, bob, carol } = await network.cast('alice', 'bob', 'carol')
    for (const reader of [bob, carol]) await follow(network, reader, alice)
    const { actionId } = await post(network, alice, 'A garden', { visibility: 'F' })
    const comment = await say(bob, { type: 'CMNT', parentId: actionId, content: { text: 'Lovely' } })

    expect(await textsOf(alice, { status: ['N'] })).toEqual(['Lovely'])
    await alice.client.call(dismissAction, { params: { actionId: comment } })
    expect(await textsOf(alice, { status: ['N'] })).toEqual([])
    await network.pass(minuteMs, minuteMs)
    for (const person of [alice, bob, carol]) {
      expect(await textsOf(person, { parentId: actionId })).toEqual(['Lovely'])
      expect(await read(person, actionId)).toMatchObject({ stat: { comments: 1 } })
    }

    await take(bob, comment)
    await network.pass(minuteMs, minuteMs)
    for (const person of [alice, bob, carol]) {
      expect(await textsOf(person, { parentId: actionId })).toEqual([])
      expect(await read(person, actionId)).toMatchObject({ stat: { comments: 0 } })
    }
  })

  test('react to a post, think again, and take it back', async () => {
    const { alice, bob, carol } = await network.cast('alice', 'bob', 'carol')
    for (const reader of [bob, carol]) await follow(network, reader, alice)
    const { actionId } = await post(network, alice, 'A garden')
    for (const [type, reactions] of [
      ['LIKE', 1],
      ['LOVE', 1],
      [null, 0],
    ] as const) {
      await bob.client.call(setReaction, { params: { actionId }, body: { type } })
      await network.settle()
      await network.pass(minuteMs, minuteMs)
      for (const person of [alice, carol])
        expect(await read(person, actionId)).toMatchObject({ stat: { reactions } })
      expect((await read(bob, actionId)).stat?.ownReaction ?? null).toBe(type)
    }
  })

  test('pass on what is public, to followers of their own', async () => {
    const { alice, bob, carol } = await network.cast('alice', 'bob', 'carol')
    await follow(network, bob, alice)
    await follow(network, carol, bob)
    const { actionId } = await post(network, alice, 'For everybody')
    const repost = await say(bob, { type: 'REPOST', subject: actionId })
    const { data } = await carol.client.call(listActions, { query: { type: ['REPOST'] } })
    expect(data).toMatchObject([{ subject: actionId, issuer: { idTag: bob.idTag } }])
    expect(await read(alice, actionId)).toMatchObject({ stat: { shares: 1 } })
    await take(bob, repost)
    expect(await read(alice, actionId)).toMatchObject({ stat: { shares: 0 } })

    const secret = await post(network, alice, 'For followers', { visibility: 'F' })
    const passOn = bob.client.call(createAction, { body: { type: 'REPOST', subject: secret.actionId } })
    await expect(passOn).rejects.toMatchObject({ status: 403 })
  })

  test('are still understood after their server has given them a new key', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await follow(network, bob, alice)
    await post(network, alice, 'With the first key')
    await network.takeDown(bob.at)
    await post(network, alice, 'Signed before, delivered after')
    network.clock.advance(minuteMs)
    const { db, signingKeys } = network.server(alice.at).running.services
    await db.transact(alice.tenantId, (tx) => signingKeys.rotate(tx))
    network.clock.advance(10 * minuteMs)
    await post(network, alice, 'With the second key')
    await network.bringBack(bob.at)
    await network.pass(60 * minuteMs, 5 * minuteMs)
    const client = await network.server(bob.at).as(bob.idTag)
    expect(await feedOf({ ...bob, client })).toEqual([
      'With the second key',
      'Signed before, delivered after',
      'With the first key',
    ])
  })
})

describe('a server whose clock is wrong', () => {
  /** Alice's clock is right, and Bob's so far ahead or behind. */
  async function start(aheadMs: number) {
    const network = new TestNetwork()
    await network.add('one')
    const clock = new TestClock(network.clock.now() + aheadMs)
    await network.add('two', { clock })
    const people = { alice: await network.person(0, 'alice'), bob: await network.person(1, 'bob') }
    return { network, clock, ...people }
  }

  test.each([
    ['four minutes ahead', 4 * minuteMs],
    ['a day behind', -24 * 60 * minuteMs],
  ])('%s is understood', async (_, aheadMs) => {
    const { network, alice, bob } = await start(aheadMs)
    await using _network = network
    await network.server(alice.at).relate(alice.idTag, bob.idTag, { isFollowing: true })
    await network.server(bob.at).relate(bob.idTag, alice.idTag, { isFollower: true })
    await post(network, bob, 'What is the time?')
    expect(await feedOf(alice)).toEqual(['What is the time?'])
  })

  test('ten minutes ahead is told so, and understood when its time has come', async () => {
    const { network, clock, alice, bob } = await start(10 * minuteMs)
    await using _network = network
    await network.server(alice.at).relate(alice.idTag, bob.idTag, { isFollowing: true })
    const { actionId } = await post(network, bob, 'Too early', { visibility: null, audienceTag: alice.idTag })
    expect(await feedOf(alice)).toEqual([])
    const { data } = await bob.client.call(listDeliveries, { params: { actionId } })
    expect(data).toMatchObject([{ state: 'retrying', lastError: 'HTTP 503' }])
    for (let minute = 0; minute < 15; minute += 1) {
      clock.advance(minuteMs)
      await network.pass(minuteMs)
    }
    expect(await feedOf(alice)).toEqual(['Too early'])
  })
})
