import {
  createAction,
  type DeliveryView,
  deleteAction,
  getAction,
  type IdTag,
  listDeliveries,
  listDeliveryHosts,
  setReaction,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { receipt } from '#harness/foreign-server.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { feedOf, follow, post } from './acts.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

describe('deliveries', () => {
  let network: TestNetwork
  beforeAll(async () => {
    network = await TestNetwork.start(2)
  })
  afterAll(() => network[Symbol.asyncDispose]())

  const stateOf = async ({ client }: Person, actionId: never): Promise<DeliveryView | undefined> => {
    const { data } = await client.call(listDeliveries, { params: { actionId } })
    return data[0]
  }
  let strangers = 0
  const foreignPerson = async () => {
    strangers += 1
    const idTag = `dora${strangers}.foreign.localhost` as IdTag
    return { idTag, home: await network.addForeign(idTag) }
  }
  const letter = (alice: Person, audienceTag: IdTag, text = 'Hello') =>
    post(network, alice, text, { visibility: null, audienceTag })

  test('wait for a server that is down for an hour, and then arrive in order', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await follow(network, bob, alice)
    await network.takeDown(bob.at)
    const sent: never[] = []
    for (const text of ['One', 'Two', 'Three']) {
      sent.push((await post(network, alice, text)).actionId)
      network.clock.advance(1000)
    }
    await network.pass(60 * minuteMs, 5 * minuteMs)
    expect(await stateOf(alice, sent[0] as never)).toMatchObject({ state: 'retrying' })
    expect(await stateOf(alice, sent[2] as never)).toMatchObject({ state: 'queued' })

    await network.bringBack(bob.at)
    await network.pass(120 * minuteMs, 10 * minuteMs)
    const client = await network.server(bob.at).as(bob.idTag)
    expect(await feedOf({ ...bob, client })).toEqual(['Three', 'Two', 'One'])
    for (const actionId of sent) expect(await stateOf(alice, actionId)).toMatchObject({ state: 'delivered' })
  })

  test('bring the counts of what waited with it, also when those were given up', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await follow(network, bob, alice)
    await network.takeDown(bob.at)
    const { actionId } = await post(network, alice, 'A garden')
    await alice.client.call(setReaction, { params: { actionId }, body: { type: 'LIKE' } })
    await network.pass(dayMs + 60 * minuteMs, 60 * minuteMs)

    await network.bringBack(bob.at)
    await network.pass(13 * 60 * minuteMs, 60 * minuteMs)
    const client = await network.server(bob.at).as(bob.idTag)
    const { data } = await client.call(getAction, { params: { actionId } })
    expect(data).toMatchObject({ issuerTag: alice.idTag, stat: { reactions: 1 } })
  })

  test('are repeated until somebody says what was received: a page that answers 200 has not', async () => {
    const { alice } = await network.cast('alice')
    const { idTag, home } = await foreignPerson()
    const answers: [string, string][] = [
      ['text/html', '<html>Welcome</html>'],
      ['application/json', '{"data":{"actionId":"another","status":"received"}}'],
      ['application/json', '{}'],
    ]
    home.onDelivery = (token, answer) => {
      const next = answers.shift()
      if (next) answer.writeHead(200, { 'content-type': next[0] }).end(next[1])
      else receipt(token, answer)
    }
    const { actionId } = await letter(alice, idTag)
    expect(await stateOf(alice, actionId)).toMatchObject({
      state: 'retrying',
      attempts: 1,
      lastError: 'HTTP 200 without a receipt',
    })
    await network.pass(3 * minuteMs)
    expect(await stateOf(alice, actionId)).toMatchObject({ state: 'delivered', attempts: 4 })
    expect(new Set(home.deliveries.map((payload) => payload.actionId))).toEqual(new Set([actionId]))
  })

  test('of a deletion are shown to its issuer, and to nobody else', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await follow(network, bob, alice)
    const { actionId } = await post(network, alice, 'Said too much')
    expect(await stateOf(alice, actionId)).toMatchObject({ state: 'delivered' })
    await network.takeDown(bob.at)
    await alice.client.call(deleteAction, { params: { actionId } })
    await network.settle()
    expect(await stateOf(alice, actionId)).toMatchObject({ state: 'retrying', recipients: [bob.idTag] })
    await network.bringBack(bob.at)
    await network.pass(10 * minuteMs)
    expect(await stateOf(alice, actionId)).toMatchObject({ state: 'delivered' })
    const client = await network.server(bob.at).as(bob.idTag)
    await expect(stateOf({ ...bob, client }, actionId)).rejects.toMatchObject({ status: 404 })
  })

  test('wait as long as the receiver asks', async () => {
    const { alice } = await network.cast('alice')
    const { idTag, home } = await foreignPerson()
    home.onDelivery = (_, answer) => answer.writeHead(429, { 'retry-after': '3600' }).end()
    const { actionId } = await letter(alice, idTag)
    const askedAt = network.clock.now()
    const state = await stateOf(alice, actionId)
    expect(state).toMatchObject({ state: 'retrying', lastError: 'HTTP 429' })
    expect(Date.parse(state?.nextAttemptAt ?? '')).toBe(askedAt + 60 * minuteMs)
    home.onDelivery = receipt
    await network.pass(59 * minuteMs, 59 * minuteMs)
    expect(home.deliveries).toHaveLength(1)
    await network.pass(2 * minuteMs)
    expect(await stateOf(alice, actionId)).toMatchObject({ state: 'delivered', attempts: 2 })
  })

  test.each([400, 401, 403, 404, 410, 413])('end when the receiver says %i', async (status) => {
    const { alice } = await network.cast('alice')
    const { idTag, home } = await foreignPerson()
    home.onDelivery = (_, answer) => answer.writeHead(status).end()
    const { actionId } = await letter(alice, idTag)
    expect(await stateOf(alice, actionId)).toMatchObject({ state: 'stopped', lastError: `HTTP ${status}` })
    await network.pass(60 * minuteMs, 60 * minuteMs)
    expect(home.deliveries).toHaveLength(1)
  })

  test('that a live host refuses do not stop what it would take', async () => {
    const { alice } = await network.cast('alice')
    const { idTag, home } = await foreignPerson()
    home.onDelivery = (token, answer) =>
      (token.content as { text: string }).text === 'Last'
        ? receipt(token, answer)
        : answer.writeHead(404).end()
    for (let n = 0; n < 6; n += 1) await letter(alice, idTag, `Refused ${n}`)
    const { actionId } = await letter(alice, idTag, 'Last')
    expect(await stateOf(alice, actionId)).toMatchObject({ state: 'delivered', attempts: 1 })
  })

  test('to a dead host rest, are probed now and then, and delay no other host', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    const { idTag, home } = await foreignPerson()
    home.onDelivery = receipt
    await letter(alice, idTag, 'So that its inbox is known')
    home.onDelivery = (_, answer) => answer.writeHead(503).end()
    const crowd = await Promise.all(Array.from({ length: 8 }, (_, n) => network.person(0, `crowd${n}`)))
    for (const person of crowd) await letter(person, idTag)
    await network.server(bob.at).relate(bob.idTag, alice.idTag, { isFollowing: true })
    const { actionId } = await letter(alice, bob.idTag)
    expect(await stateOf(alice, actionId)).toMatchObject({ state: 'delivered' })
    // Five failures, then it rests; without the breaker each of the eight would have tried.
    expect(home.deliveries).toHaveLength(1 + 5)
    await network.pass(60 * minuteMs, 5 * minuteMs)
    expect(home.deliveries.length).toBeLessThan(1 + 5 + 12)
    home.onDelivery = receipt
    await network.pass(120 * minuteMs, 10 * minuteMs)
    const arrived = new Set(home.deliveries.map(({ issuerTag }) => issuerTag))
    expect(crowd.every((person) => arrived.has(person.idTag))).toBe(true)
    for (const person of crowd) {
      const [delivery] = home.deliveries.filter(({ issuerTag }) => issuerTag === person.idTag)
      expect(await stateOf(person, delivery?.actionId as never)).toMatchObject({ state: 'delivered' })
    }
  })

  test('to somebody whose server cannot be found yet begin when it can', async () => {
    const { alice } = await network.cast('alice')
    const { idTag, home } = await foreignPerson()
    home.fault = 503
    const { data } = await alice.client.call(createAction, {
      body: { type: 'POST', content: { text: 'Later' }, visibility: null, audienceTag: idTag },
    })
    await network.settle()
    expect(await stateOf(alice, data.actionId as never)).toMatchObject({
      server: idTag,
      recipients: [idTag],
      state: 'retrying',
    })
    home.fault = undefined
    await network.pass(10 * minuteMs)
    expect(await stateOf(alice, data.actionId as never)).toMatchObject({ state: 'delivered' })
  })

  test('stop after seven days', async () => {
    const { alice } = await network.cast('alice')
    const { idTag, home } = await foreignPerson()
    home.onDelivery = (_, answer) => answer.writeHead(500).end()
    const { actionId } = await letter(alice, idTag)
    await network.pass(8 * 86_400_000, 6 * 60 * minuteMs)
    const client = await network.server(alice.at).as(alice.idTag)
    expect(await stateOf({ ...alice, client }, actionId)).toMatchObject({ state: 'stopped' })
    expect(home.deliveries.length).toBeLessThan(40)
  })

  test('administrators see how it goes with each server, and nobody else does', async () => {
    const { alice } = await network.cast('alice')
    const { idTag, home } = await foreignPerson()
    home.onDelivery = (_, answer) => answer.writeHead(500).end()
    await post(network, alice, 'Hello', { visibility: null, audienceTag: idTag })
    const server = network.server(alice.at)
    const admin = await server.as(server.baseIdTag)
    const { host } = new URL(home.url)
    const hosts = await Array.fromAsync(admin.pages(listDeliveryHosts, { query: { limit: 1 } }))
    expect(hosts.flat().map((it) => it.host)).toEqual(
      hosts
        .flat()
        .map((it) => it.host)
        .toSorted(),
    )
    const failing = await admin.call(listDeliveryHosts, { query: { failing: true, limit: 100 } })
    expect(failing.data.find((it) => it.host === host)).toEqual({
      host,
      queued: 1,
      failures: 1,
      oldestAt: new Date(network.clock.now()).toISOString(),
      lastTriedAt: new Date(network.clock.now()).toISOString(),
    })
    home.onDelivery = receipt
    await network.pass(minuteMs)
    const { data } = await admin.call(listDeliveryHosts, { query: { limit: 100 } })
    expect(data.find((it) => it.host === host)).toMatchObject({ queued: 0, failures: 0 })

    for (const [client, status] of [
      [alice.client, 403],
      [server.client(server.baseIdTag), 401],
    ] as const)
      await expect(client.call(listDeliveryHosts)).rejects.toMatchObject({ status })
    const nonsense = admin.call(listDeliveryHosts, { query: { cursor: 'nonsense' } })
    await expect(nonsense).rejects.toMatchObject({ status: 400 })
  })
})
