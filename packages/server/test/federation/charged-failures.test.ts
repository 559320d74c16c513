import { type IdTag, listDeliveryHosts } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestNetwork } from '#harness/test-network.ts'
import { post } from './acts.ts'

describe('what fails is charged to who caused it', () => {
  let network: TestNetwork
  beforeAll(async () => {
    network = await TestNetwork.start(1, { env: { TRUSTED_PROXIES: '127.0.0.1/32' } })
  })
  afterAll(() => network[Symbol.asyncDispose]())

  const letters = async (alice: Awaited<ReturnType<typeof network.person>>, to: readonly string[]) => {
    for (const audienceTag of to)
      await post(network, alice, 'Hello', { visibility: null, audienceTag: audienceTag as IdTag })
    await network.settle()
  }

  test('an inbox at a third server takes nothing that server does not ask for, and trips no breaker', async () => {
    const { alice } = await network.cast('alice')
    const made = Array.from({ length: 8 }, (_, at) => `m${at}.mallory.localhost`)
    const mallory = await network.addForeign(...made)
    const victim = await network.addForeign('vera.victim.localhost')
    for (const idTag of made) mallory.inboxUrls.set(idTag, `${victim.url}/api/broken`)
    victim.onRequest = (_, answer) => answer.writeHead(500).end()
    await letters(alice, made)
    expect(mallory.deliveries).toHaveLength(8)
    expect(victim.requests.filter(({ method }) => method === 'POST')).toEqual([])
    await letters(alice, ['vera.victim.localhost'])
    expect(victim.deliveries).toHaveLength(1)
  })

  test('an inbox on another host is used when that host names it as well', async () => {
    const { alice } = await network.cast('alice')
    const home = await network.addForeign('dora.home.localhost')
    const inboxes = await network.addForeign('dora.home.localhost')
    network.announceAt('dora.home.localhost', home.url)
    for (const server of [home, inboxes])
      server.inboxUrls.set('dora.home.localhost', `${inboxes.url}/api/inbox`)
    await letters(alice, ['dora.home.localhost'])
    expect([home.deliveries.length, inboxes.deliveries.length]).toEqual([0, 1])
  })

  test('a host rests after failures to answer, not after answers that are no', async () => {
    // One who waits to try again holds up what the same sender sends there.
    const letter = async (count: number) =>
      letters((await network.cast('alice')).alice, names.slice(0, count))
    const names = Array.from({ length: 7 }, (_, at) => `p${at}.picky.localhost`)
    const picky = await network.addForeign(...names)
    const failures = async () => {
      const admin = await network.server(0).as('one.localhost')
      const { data } = await admin.call(listDeliveryHosts, {})
      return data.find(({ host }) => host === new URL(picky.url).host)?.failures
    }
    for (const status of [404, 429, 302, 418]) {
      picky.onDelivery = (_, answer) => answer.writeHead(status, { location: '/' }).end()
      await letter(7)
      expect(await failures()).toBe(0)
    }
    picky.onDelivery = (_, answer) => answer.writeHead(502).end()
    await letter(1)
    expect(await failures()).toBeGreaterThan(0)
  })

  test('look-ups of guests leave signed tokens and other guests what they need', async () => {
    const { alice } = await network.cast('alice')
    const shop = await network.addForeign('dora.shop.localhost', 'emil.shop.localhost')
    const server = network.server(0)
    const ask = async (idTag: string, address: string) => {
      const headers = { 'x-forwarded-for': address }
      return (await server.request(alice.idTag, `/api/profiles/${idTag}`, { headers })).status
    }
    const statuses = []
    for (let at = 0; at < 61; at += 1) statuses.push(await ask(`x${at}.shop.localhost`, '203.0.113.1'))
    expect([new Set(statuses.slice(0, 60)), statuses[60]]).toEqual([new Set([404]), 503])
    expect(await ask('dora.shop.localhost', '203.0.113.1')).toBe(503)
    await server.relate(alice.idTag, 'dora.shop.localhost', { isFollowing: true })
    const token = shop.sign('dora.shop.localhost', {
      audienceTag: alice.idTag,
      visibility: 'P',
      content: { text: 'Hello' },
    })
    expect((await server.deliver(token)).body.data).toMatchObject({ verified: true })
    expect(await ask('emil.shop.localhost', '203.0.113.2')).toBe(200)
  })
})
