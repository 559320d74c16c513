import {
  createAction,
  deleteAction,
  getAction,
  type IdTag,
  listActions,
  type NewAction,
  setReaction,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ForeignServer, receipt } from '#harness/foreign-server.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { feedOf, follow, post } from './acts.ts'

const minuteMs = 60_000

describe('a deletion', () => {
  let network: TestNetwork
  beforeAll(async () => {
    network = await TestNetwork.start(2)
  })
  afterAll(() => network[Symbol.asyncDispose]())

  let strangers = 0
  const foreigner = async () => {
    strangers += 1
    const idTag = `dora.deleting${strangers}.localhost` as IdTag
    return { idTag, home: await network.addForeign(idTag) }
  }
  const actionIdOf = (token: string) =>
    (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { actionId: string })
      .actionId
  const signed = (home: ForeignServer, idTag: string, to: Person) => {
    const token = home.sign(idTag, { audienceTag: to.idTag, visibility: 'P', content: { text: 'Oops' } })
    const deletion = home.sign(idTag, { subType: 'DEL', subject: actionIdOf(token) })
    return { token, deletion }
  }
  const remove = async ({ client }: Person, actionId: string) => {
    await client.call(deleteAction, { params: { actionId: actionId as never } })
    await network.settle()
  }
  const sent = (home: ForeignServer) =>
    home.deliveries.map(({ type, subType, content }) => ({ type, subType, content }))

  describe('that comes before what it deletes can be shown', () => {
    test('is heeded where the action waits for a key', async () => {
      const { bob } = await network.cast('bob')
      const { idTag, home } = await foreigner()
      const { token, deletion } = signed(home, idTag, bob)
      await network.server(0).relate(bob.idTag, idTag, { isFollowing: true })
      home.fault = 503
      expect((await network.server(0).deliver(token)).body.data?.verified).toBe(false)
      home.fault = undefined
      network.clock.advance(minuteMs)
      expect((await network.server(0).deliver(deletion)).body.data?.verified).toBe(true)
      await network.pass(120 * minuteMs, 15 * minuteMs)
      expect(await feedOf(bob)).toEqual([])
    })

    test.each(['the action', 'the deletion'])(
      'is heeded where both wait for a key, and %s came first',
      async (which) => {
        const { bob } = await network.cast('bob')
        const { idTag, home } = await foreigner()
        const { token, deletion } = signed(home, idTag, bob)
        await network.server(0).relate(bob.idTag, idTag, { isFollowing: true })
        home.fault = 503
        for (const it of which === 'the action' ? [token, deletion] : [deletion, token])
          expect((await network.server(0).deliver(it)).body.data?.verified).toBe(false)
        home.fault = undefined
        const seen = new Set<unknown>()
        for (let n = 0; n < 90; n += 1) {
          await network.pass(minuteMs)
          for (const text of await feedOf(bob)) seen.add(text)
        }
        expect([...seen]).toEqual([])
      },
    )

    test('is heeded while it waits itself, when the action comes again and the key is known', async () => {
      const { bob } = await network.cast('bob')
      const { idTag, home } = await foreigner()
      const { token, deletion } = signed(home, idTag, bob)
      await network.server(0).relate(bob.idTag, idTag, { isFollowing: true })
      home.fault = 503
      await network.server(0).deliver(deletion)
      home.fault = undefined
      network.clock.advance(minuteMs)
      expect((await network.server(0).deliver(token)).body.data?.verified).toBe(true)
      expect(await feedOf(bob)).toEqual([])
    })

    test('is remembered where it concerns nobody, and its action is kept without its text', async () => {
      const { bob } = await network.cast('bob')
      const { idTag, home } = await foreigner()
      const { token, deletion } = signed(home, idTag, bob)
      for (const path of ['/api/inbox', '/api/inbox/sync'] as const)
        expect((await network.server(0).deliver(deletion, path)).status).toBe(200)
      await network.server(0).relate(bob.idTag, idTag, { isFollowing: true })
      expect((await network.server(0).deliver(token)).status).toBe(200)
      expect(await feedOf(bob)).toEqual([])
      const reader = network.server(0).db.reader(bob.tenantId)
      const rows = await reader
        .tables<{ actions: { tenant_id: number; content: string; token: string; status: string } }>()
        .selectFrom('actions')
        .select(['status', 'content', 'token'])
        .where('tenant_id', '=', bob.tenantId)
        .execute()
      expect(rows).toEqual([{ status: 'D', content: null, token: null }])
    })

    test('is nobody’s but the issuer’s, and of the same type', async () => {
      const { bob } = await network.cast('bob')
      const { idTag, home } = await foreigner()
      const other = await foreigner()
      const { token } = signed(home, idTag, bob)
      await network.server(0).relate(bob.idTag, idTag, { isFollowing: true })
      const subject = actionIdOf(token)
      await network.server(0).deliver(other.home.sign(other.idTag, { subType: 'DEL', subject }))
      await network.server(0).deliver(home.sign(idTag, { type: 'CMNT', subType: 'DEL', subject }))
      await network.server(0).deliver(token)
      expect(await feedOf(bob)).toEqual(['Oops'])
    })

    test('is forgotten when nothing of that age is taken any more', async () => {
      const { idTag, home } = await foreigner()
      const { deletion } = signed(home, idTag, (await network.cast('bob')).bob)
      await network.server(0).deliver(deletion)
      expect(Number((await network.server(0).countRows('tombstones')).tombstones)).toBeGreaterThan(0)
      await network.pass(182 * 86_400_000, 26 * 86_400_000)
      expect(await network.server(0).countRows('tombstones')).toEqual({ tombstones: 0 })
    })
  })

  describe('of what still waits to be sent', () => {
    const letter = (text: string, audienceTag: IdTag): NewAction => ({
      type: 'POST',
      content: { text },
      visibility: null,
      audienceTag,
    })
    const waiting = async (alice: Person, body: NewAction, home: ForeignServer) => {
      await post(network, alice, 'Hello', letter('Hello', body.audienceTag as IdTag))
      home.onDelivery = (_, answer) => answer.writeHead(503).end()
      const { data } = await alice.client.call(createAction, { body })
      return data.actionId
    }

    test('sends the deletion, and never the text', async () => {
      const { alice } = await network.cast('alice')
      const { idTag, home } = await foreigner()
      await post(network, alice, 'Hello', { visibility: null, audienceTag: idTag })
      home.fault = 503
      const { actionId } = await post(network, alice, 'Said too much', letter('Said too much', idTag))
      await remove(alice, actionId)
      home.fault = undefined
      const before = home.deliveries.length
      await network.pass(120 * minuteMs, 15 * minuteMs)
      expect(sent(home).slice(before)).toEqual([{ type: 'POST', subType: 'DEL', content: undefined }])
    })

    test('holds for what has expired', async () => {
      const { alice } = await network.cast('alice')
      const { idTag, home } = await foreigner()
      const expiresAt = Math.floor(network.clock.now() / 1000) + 600
      await waiting(alice, { ...letter('For ten minutes', idTag), expiresAt }, home)
      await network.pass(minuteMs)
      const before = home.deliveries.length
      network.clock.advance(10 * minuteMs)
      home.onDelivery = receipt
      await network.pass(120 * minuteMs, 15 * minuteMs)
      expect(sent(home).slice(before)).toEqual([])
    })

    test('holds for the post of a member that a community passes on', async () => {
      const { alice } = await network.cast('alice')
      const { idTag, home } = await foreigner()
      const club = await network.server(0).createTenant(`club-of-${alice.idTag}`, { type: 'community' })
      await network
        .server(0)
        .relate(club.idTag, alice.idTag, { isFollower: true, connection: 'connected', role: 'contributor' })
      await network.server(0).relate(alice.idTag, club.idTag, { isFollowing: true, connection: 'connected' })
      await network.server(0).relate(club.idTag, idTag, { isFollower: true })
      home.fault = 503
      const { actionId } = await post(network, alice, 'To the club', {
        visibility: 'P',
        audienceTag: club.idTag,
      })
      await remove(alice, actionId)
      home.fault = undefined
      await network.pass(180 * minuteMs, 15 * minuteMs)
      expect(sent(home).filter(({ content }) => content !== undefined)).toEqual([])
    })

    test('takes along the reaction whose place it had taken', async () => {
      const { alice, bob } = await network.cast('alice', 'bob')
      await follow(network, alice, bob)
      const { actionId } = await post(network, bob, 'Look')
      const react = async (type: 'LIKE' | 'LOVE' | null) => {
        const client = await network.server(0).as(alice.idTag)
        await client.call(setReaction, { params: { actionId }, body: { type } })
        network.clock.advance(2000)
      }
      await react('LIKE')
      await network.settle()
      await network.takeDown(1)
      await react('LOVE')
      await react(null)
      await network.settle()
      await network.bringBack(1)
      await network.pass(60 * minuteMs, 5 * minuteMs)
      const client = await network.server(1).as(bob.idTag)
      const { data } = await client.call(getAction, { params: { actionId } })
      expect(data.stat?.reactions ?? 0).toBe(0)
    })

    test('and nothing leaves of whoever is suspended until that ends', async () => {
      const { alice } = await network.cast('alice')
      const { idTag, home } = await foreigner()
      await waiting(alice, letter('Before the suspension', idTag), home)
      await network.settle()
      await network.server(0).suspend(alice.idTag)
      home.onDelivery = receipt
      const before = home.deliveries.length
      await network.pass(120 * minuteMs, 10 * minuteMs)
      expect(home.deliveries.length).toBe(before)
      await network.server(0).resume(alice.idTag)
      await network.pass(240 * minuteMs, 20 * minuteMs)
      expect(sent(home).slice(before)).toMatchObject([{ content: { text: 'Before the suspension' } }])
    })
  })

  test('by a stranger’s announcement of what its issuer deleted here before shows nothing', async () => {
    const { alice } = await network.cast('alice')
    const bob = await network.person(0, `bob-of-${alice.idTag.split('.')[0]}`)
    const { idTag: club, home } = await foreigner()
    await network.server(0).relate(bob.idTag, club, { isFollowing: true })
    const { actionId } = await post(network, alice, 'Gone', { visibility: 'P', audienceTag: club })
    const token = await network.server(0).tokenOf(alice.idTag, actionId)
    await remove(alice, actionId)
    const word = home.sign(club, { type: 'ANNC', subject: actionId, content: { token } })
    expect((await network.server(0).deliver(word)).status).toBe(200)
    expect((await bob.client.call(listActions, {})).data).toEqual([])
  })
})
