import { createAction, deleteAction, getAction, listActions, updateRelationship } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashOfToken } from '#features/actions/index.ts'
import type { ForeignServer } from '#harness/foreign-server.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { follow, post } from './acts.ts'

const mallory = 'mallory.foreign.localhost'
const rita = 'rita.foreign.localhost'
const xena = 'xena.foreign.localhost'

describe('a thread held by others', () => {
  let network: TestNetwork
  let foreign: ForeignServer

  beforeAll(async () => {
    network = await TestNetwork.start(3)
    foreign = await network.addForeign(mallory, rita, xena)
  })
  afterAll(() => network[Symbol.asyncDispose]())

  const saidTo = async ({ client }: Person, parentId: string) =>
    (await client.call(listActions, { query: { parentId: parentId as never } })).data
      .map(({ content }) => content?.text)
      .toSorted()
  const comment = async ({ client }: Person, parentId: string, text: string) => {
    const { data } = await client.call(createAction, {
      body: { type: 'CMNT', parentId: parentId as never, content: { text } },
    })
    await network.settle()
    return data.actionId
  }
  const give = async (at: number, token: string, announced?: string) => {
    const { status } = await network.server(at).deliver(token, '/api/inbox', announced)
    await network.settle()
    return status
  }
  const payloadOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { actionId: string }
  const announce = (by: string, token: string, members: object = {}) =>
    foreign.sign(by, {
      type: 'ANNC',
      subject: payloadOf(token).actionId,
      content: { hash: hashOfToken(token) },
      ...members,
    })

  test('shows what a blocked person says at home and nowhere else', async () => {
    const { alice, bob, carol } = await network.cast('alice', 'bob', 'carol')
    for (const reader of [bob, carol]) await follow(network, reader, alice)
    const { actionId } = await post(network, alice, 'A garden', { visibility: 'F' })
    await comment(carol, actionId, 'Before')
    const answered = await comment(bob, actionId, 'Bob was here')
    await alice.client.call(updateRelationship, {
      params: { idTag: carol.idTag },
      body: { relationship: 'block' },
    })
    await comment(carol, actionId, 'After')
    await comment(carol, answered, 'To Bob')
    expect(await saidTo(carol, actionId)).toEqual(['After', 'Before', 'Bob was here'])
    expect(await saidTo(bob, actionId)).toEqual(['Before', 'Bob was here'])
    expect(await saidTo(bob, answered)).toEqual([])
  })

  test('takes a comment from its root’s server alone, whoever else hands it over', async () => {
    const { bob } = await network.cast('bob')
    await network.server(0).relate(bob.idTag, rita, { isFollowing: true })
    await network.server(0).relate(bob.idTag, xena, { isFollowing: true })
    const root = foreign.sign(rita, { visibility: 'P', content: { text: 'Root' } })
    const rootId = payloadOf(root).actionId
    await give(0, root)
    const say = (text: string, by = mallory, members: object = {}) =>
      foreign.sign(by, { type: 'CMNT', parentId: rootId, rootId, content: { text }, ...members })

    const direct = say('Direct')
    expect(await give(0, direct)).toBe(200)
    expect(await saidTo(bob, rootId)).toEqual([])
    for (const by of [mallory, xena]) expect(await give(0, announce(by, direct), direct)).toBe(200)
    expect(await saidTo(bob, rootId)).toEqual([])
    expect(await give(0, announce(rita, direct), direct)).toBe(200)
    expect(await saidTo(bob, rootId)).toEqual(['Direct'])
    // The root's issuer needs nobody's word.
    await give(0, say('Mine', rita))
    expect(await saidTo(bob, rootId)).toEqual(['Direct', 'Mine'])

    // Naming another root does not lead around it.
    const elsewhere = foreign.sign(xena, { visibility: 'P', content: { text: 'Other root' } })
    const otherId = payloadOf(elsewhere).actionId
    await give(0, elsewhere)
    for (const parentId of [rootId, payloadOf(direct).actionId]) {
      const lie = say('Lie', mallory, { parentId, rootId: otherId })
      await give(0, announce(xena, lie), lie)
      await give(0, lie)
    }
    expect(await saidTo(bob, rootId)).toEqual(['Direct', 'Mine'])
    expect(await saidTo(bob, payloadOf(direct).actionId)).toEqual([])
  })

  test('drops what came by itself before its root, and takes it when it is passed on', async () => {
    const { bob } = await network.cast('bob')
    for (const friend of [rita, mallory])
      await network.server(0).relate(bob.idTag, friend, { isFollowing: true })
    const root = foreign.sign(rita, { visibility: 'P', content: { text: 'Root' } })
    const rootId = payloadOf(root).actionId
    const say = (text: string, members: object = {}) =>
      foreign.sign(mallory, { type: 'CMNT', parentId: rootId, rootId, content: { text }, ...members })
    const [first, second] = [say('First'), say('Second')]
    const answer = say('Answer', { parentId: payloadOf(second).actionId, rootId: undefined })
    for (const token of [first, answer]) await give(0, token)
    await give(0, root)
    expect(await saidTo(bob, rootId)).toEqual([])
    await give(0, announce(rita, second), second)
    expect(await saidTo(bob, rootId)).toEqual(['Second'])
    expect(await saidTo(bob, payloadOf(second).actionId)).toEqual([])
    await give(0, announce(rita, first), first)
    expect(await saidTo(bob, rootId)).toEqual(['First', 'Second'])
  })

  test('keeps an announced answer that came before what it answers', async () => {
    const { bob } = await network.cast('bob')
    await network.server(0).relate(bob.idTag, rita, { isFollowing: true })
    const root = foreign.sign(rita, { visibility: 'P', content: { text: 'Root' } })
    const rootId = payloadOf(root).actionId
    await give(0, root)
    const said = foreign.sign(mallory, { type: 'CMNT', parentId: rootId, rootId, content: { text: 'Said' } })
    const parentId = payloadOf(said).actionId
    const answer = foreign.sign(xena, { type: 'CMNT', parentId, rootId, content: { text: 'Answer' } })
    for (const token of [answer, said]) await give(0, announce(rita, token), token)
    expect(await saidTo(bob, parentId)).toEqual(['Answer'])
  })

  test('loses what its owner removes, and nothing that somebody else removes', async () => {
    const { alice, bob, carol } = await network.cast('alice', 'bob', 'carol')
    for (const reader of [bob, carol]) await follow(network, reader, alice)
    const { actionId } = await post(network, alice, 'A garden')
    const [kept, gone] = [await comment(carol, actionId, 'Kept'), await comment(carol, actionId, 'Spam')]
    const hidden = await comment(carol, actionId, 'Hidden')
    const token = await network.server(carol.at).tokenOf(carol.idTag, gone)
    const remove = (who: Person, id: string) =>
      who.client.call(deleteAction, { params: { actionId: id as never } })
    // What a reader removes goes from that reader's own server.
    await remove(bob, hidden)
    await remove(alice, gone)
    await network.settle()
    expect(await saidTo(alice, actionId)).toEqual(['Hidden', 'Kept'])
    expect(await saidTo(bob, actionId)).toEqual(['Kept'])
    expect(await saidTo(carol, actionId)).toEqual(['Hidden', 'Kept', 'Spam'])
    // It does not come back.
    for (const at of [alice.at, bob.at]) await give(at, token)
    expect([await saidTo(alice, actionId), await saidTo(bob, actionId)]).toEqual([
      ['Hidden', 'Kept'],
      ['Kept'],
    ])

    // In the name of who has no say there nothing goes.
    await network.server(bob.at).relate(bob.idTag, mallory, { isFollowing: true })
    const before = await network.server(bob.at).countRows('actions')
    for (const subject of [kept, actionId])
      await give(bob.at, foreign.sign(mallory, { type: 'ANNC', subType: 'DEL', subject }))
    expect(await saidTo(bob, actionId)).toEqual(['Kept'])
    expect(await network.server(bob.at).countRows('actions')).toEqual(before)
    await expect(bob.client.call(getAction, { params: { actionId } })).resolves.toBeDefined()
  })

  test('does not take what was removed before it arrived', async () => {
    const { bob } = await network.cast('bob')
    await network.server(0).relate(bob.idTag, rita, { isFollowing: true })
    const root = foreign.sign(rita, { visibility: 'P', content: { text: 'Root' } })
    const rootId = payloadOf(root).actionId
    await give(0, root)
    const said = foreign.sign(mallory, { type: 'CMNT', parentId: rootId, rootId, content: { text: 'Spam' } })
    const subject = payloadOf(said).actionId
    await give(0, foreign.sign(rita, { type: 'ANNC', subType: 'DEL', subject }))
    await give(0, announce(rita, said), said)
    expect(await saidTo(bob, rootId)).toEqual([])
  })

  test('reaches whoever is answered, also when they follow no longer', async () => {
    const { alice, bob, carol } = await network.cast('alice', 'bob', 'carol')
    for (const reader of [bob, carol]) await follow(network, reader, alice)
    const { actionId } = await post(network, alice, 'A garden')
    const asked = await comment(bob, actionId, 'Whose?')
    await bob.client.call(createAction, { body: { type: 'FLLW', audienceTag: alice.idTag, subType: 'DEL' } })
    await network.pass(1000)
    await comment(carol, asked, 'Hers')
    expect(await saidTo(bob, asked)).toEqual(['Hers'])
  })

  test('reaches nobody who may not read it any more, and nobody who is blocked', async () => {
    const { alice, bob, carol } = await network.cast('alice', 'bob', 'carol')
    for (const reader of [bob, carol]) await follow(network, reader, alice)
    const asked = []
    for (const visibility of ['F', 'P'] as const) {
      const { actionId } = await post(network, alice, 'A garden', { visibility })
      asked.push(await comment(bob, actionId, 'Whose?'))
    }
    const [inside = '', open = ''] = asked
    await bob.client.call(createAction, { body: { type: 'FLLW', audienceTag: alice.idTag, subType: 'DEL' } })
    await network.pass(1000)
    await comment(carol, inside, 'Between us')
    expect(await saidTo(bob, inside)).toEqual([])
    await alice.client.call(updateRelationship, {
      params: { idTag: bob.idTag },
      body: { relationship: 'block' },
    })
    await comment(carol, open, 'Good riddance')
    expect(await saidTo(bob, open)).toEqual([])
  })

  test('is there for who follows later, with its counts', async () => {
    const { alice, bob, carol } = await network.cast('alice', 'bob', 'carol')
    await follow(network, bob, alice)
    const { actionId } = await post(network, alice, 'A garden')
    const asked = await comment(bob, actionId, 'Whose?')
    await comment(alice, asked, 'Mine')
    await bob.client.call(createAction, { body: { type: 'REACT', subject: actionId, subType: 'LIKE' } })
    await network.settle()
    await follow(network, carol, alice)
    expect(await saidTo(carol, actionId)).toEqual(['Whose?'])
    expect(await saidTo(carol, asked)).toEqual(['Mine'])
    const { data } = await carol.client.call(getAction, { params: { actionId } })
    expect(data.stat).toMatchObject({ comments: 1, reactions: 1 })
  })
})
