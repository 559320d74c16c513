import { createAction, deleteAction, type IdTag, listDeliveries } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { feedOf, follow, post } from './acts.ts'

const hourMs = 3_600_000

describe('a token for a tenant that is suspended', () => {
  let network: TestNetwork
  beforeAll(async () => {
    network = await TestNetwork.start(2)
  })
  afterAll(() => network[Symbol.asyncDispose]())

  const resume = (person: Person) => network.server(person.at).resume(person.idTag)
  const feedOfResumed = async (person: Person) =>
    feedOf({ ...person, client: await network.server(person.at).as(person.idTag) })
  const letter = (from: Person, to: IdTag, text: string) =>
    post(network, from, text, { visibility: null, audienceTag: to })

  test.each([
    ['at another server', 1],
    ['at the same server', 0],
  ])('%s arrives when it takes part again', async (_, at) => {
    const { alice } = await network.cast('alice')
    const bob = await network.person(at, `bob${at}of${alice.idTag.split('.')[0]}`)
    await follow(network, bob, alice)
    await network.server(at).suspend(bob.idTag)
    await letter(alice, bob.idTag, 'For you')
    await network.pass(12 * hourMs, hourMs)
    await resume(bob)
    await network.pass(12 * hourMs, hourMs)
    expect(await feedOfResumed(bob)).toEqual(['For you'])
  })

  test('is answered 503 with the time after which to come again', async () => {
    const { bob } = await network.cast('bob')
    const home = await network.addForeign('dora.foreign.localhost')
    const token = home.sign('dora.foreign.localhost', { audienceTag: bob.idTag, visibility: 'P' })
    await network.server(0).suspend(bob.idTag)
    for (const path of ['/api/inbox', '/api/inbox/sync'] as const) {
      const { status, headers, body } = await network.server(0).deliver(token, path)
      const error = { code: 'E-UNAVAILABLE', details: { concerns: 'token' } }
      expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '3600' })
      expect(body).toMatchObject({ error })
    }
  })

  test('keeps its server open for its other tenants', async () => {
    const { alice } = await network.cast('alice')
    const [bob, carol] = [await network.person(1, 'bob-alone'), await network.person(1, 'carol-beside')]
    await follow(network, bob, alice)
    await follow(network, carol, alice)
    await network.server(1).suspend(bob.idTag)
    const writers = await Promise.all(Array.from({ length: 6 }, (_, n) => network.person(0, `writer${n}`)))
    for (const writer of writers) await letter(writer, bob.idTag, 'For you')
    await letter(alice, carol.idTag, 'For carol')
    expect(await feedOfResumed(carol)).toEqual(['For carol'])
  })

  test('is sent again when the receiver says, not before', async () => {
    const { alice } = await network.cast('alice')
    const idTag = 'fred.foreign.localhost' as IdTag
    const home = await network.addForeign(idTag)
    home.onDelivery = (_, answer) => {
      const error = { code: 'E-UNAVAILABLE', message: 'Later', details: { concerns: 'token' } }
      const headers = { 'content-type': 'application/json', 'retry-after': '3600' }
      answer.writeHead(503, headers).end(JSON.stringify({ error }))
    }
    await letter(alice, idTag, 'For you')
    await network.pass(hourMs - 60_000, hourMs / 4)
    expect(home.deliveries).toHaveLength(1)
    await network.pass(2 * hourMs, hourMs / 4)
    expect(home.deliveries).toHaveLength(3)
  })

  test('and for others waits here for it alone, and delays nobody', async () => {
    const { alice } = await network.cast('alice')
    const [bob, carol] = [await network.person(1, 'bob-several'), await network.person(1, 'carol-several')]
    await follow(network, bob, alice)
    await follow(network, carol, alice)
    await network.server(1).suspend(bob.idTag)
    const { actionId } = await post(network, alice, 'One')
    await post(network, alice, 'Two')
    expect((await feedOfResumed(carol)).toSorted()).toEqual(['One', 'Two'])
    const { data } = await alice.client.call(listDeliveries, { params: { actionId } })
    expect(data).toMatchObject([{ state: 'delivered', attempts: 1 }])
    await resume(bob)
    await network.pass(2 * hourMs, hourMs / 4)
    expect((await feedOfResumed(bob)).toSorted()).toEqual(['One', 'Two'])
  })

  test('is forgotten after a week, and in a bounded number', async () => {
    const [bob, carol] = [await network.person(1, 'bob-bounded'), await network.person(1, 'carol-bounded')]
    const home = await network.addForeign('eve.foreign.localhost')
    await network.server(1).suspend(bob.idTag)
    await network.settle()
    const { jobs } = await network.server(1).countRows('jobs')
    const members = { type: 'ACK', audience: [bob.idTag, carol.idTag] }
    for (let n = 0; n < 205; n += 1)
      expect((await network.server(1).deliver(home.sign('eve.foreign.localhost', members))).status).toBe(200)
    expect(await network.server(1).countRows('jobs')).toEqual({ jobs: Number(jobs) + 200 })
    await network.pass(8 * 24 * hourMs, 24 * hourMs)
    const left = await network.server(1).countRows('jobs')
    expect(left.jobs).toBeLessThanOrEqual(Number(jobs))
  })

  test('and that is withdrawn meanwhile is never shown', async () => {
    const { alice } = await network.cast('alice')
    const [bob, carol] = [
      await network.person(1, 'bob-withdrawn'),
      await network.person(1, 'carol-withdrawn'),
    ]
    await follow(network, bob, alice)
    await follow(network, carol, alice)
    await network.server(1).suspend(bob.idTag)
    const { data } = await alice.client.call(createAction, {
      body: { type: 'POST', content: { text: 'Oops' }, visibility: 'P' },
    })
    await network.settle()
    await alice.client.call(deleteAction, { params: { actionId: data.actionId } })
    await network.settle()
    await resume(bob)
    await network.pass(2 * hourMs, hourMs / 4)
    expect(await feedOfResumed(bob)).toEqual([])
  })
})
