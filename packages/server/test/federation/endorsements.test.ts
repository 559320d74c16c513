import { createAction, getAction, type IdTag } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownActionId } from '#features/actions/index.ts'
import { TestNetwork } from '#harness/test-network.ts'
import { follow } from './acts.ts'

const eve = 'eve.foreign.localhost'

describe('two texts under one id', () => {
  let network: TestNetwork

  beforeAll(async () => {
    network = await TestNetwork.start(2)
  })
  afterAll(() => network[Symbol.asyncDispose]())

  test('are told apart where somebody has reposted the other one', async () => {
    const foreign = await network.addForeign(eve)
    const { alice, bob } = await network.cast('alice', 'bob')
    await follow(network, bob, alice)
    const nonce = 'A'.repeat(21).concat('g')
    const subject = ownActionId(eve as IdTag, nonce)
    const say = (text: string) =>
      foreign.sign(eve, { actionId: subject, nonce, visibility: 'P', content: { text } })
    for (const [person, text] of [
      [alice, 'kittens'],
      [bob, 'poison'],
    ] as const) {
      const server = network.server(person.at)
      await server.relate(person.idTag, eve, { isFollowing: true })
      expect((await server.deliver(say(text))).status).toBe(200)
    }
    const { data } = await alice.client.call(createAction, { body: { type: 'REPOST', subject } })
    await network.settle()

    const params = { actionId: data.actionId }
    expect((await alice.client.call(getAction, { params })).data).toMatchObject({ subject })
    const arrived = (await bob.client.call(getAction, { params })).data
    expect(arrived).toMatchObject({ type: 'REPOST', mismatched: true })
    expect(arrived).not.toHaveProperty('subject')
    const held = (await bob.client.call(getAction, { params: { actionId: subject } })).data
    expect(held).toMatchObject({ content: { text: 'poison' }, stat: { shares: 0 } })
  })
})
