import type { IdTag } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { receipt } from '#harness/foreign-server.ts'
import { TestNetwork } from '#harness/test-network.ts'
import { feedOf, post } from './acts.ts'

const minuteMs = 60_000

describe('a delivery', () => {
  let network: TestNetwork
  beforeAll(async () => {
    network = await TestNetwork.start(1)
  })
  afterAll(() => network[Symbol.asyncDispose]())

  let strangers = 0
  const foreigner = async () => {
    strangers += 1
    const idTag = `dora.moving${strangers}.localhost` as IdTag
    return { idTag, home: await network.addForeign(idTag) }
  }
  const textsAt = (home: { deliveries: Record<string, unknown>[] }) =>
    home.deliveries.map(({ content }) => (content as { text?: string } | undefined)?.text)

  test.each([
    ['is away', 503],
    ['does not know them any more', 404],
  ])('follows a recipient whose old server %s', async (_, status) => {
    const { alice } = await network.cast('alice')
    const { idTag, home } = await foreigner()
    const write = (text: string) => post(network, alice, text, { visibility: null, audienceTag: idTag })
    await write('Before')
    const next = await network.addForeign(idTag)
    network.clock.advance(61 * minuteMs)
    home.onDelivery = (__, answer) => answer.writeHead(status).end()
    for (const text of ['One', 'Two', 'Three']) await write(text)
    await network.pass(4 * 60 * minuteMs, 10 * minuteMs)
    expect(textsAt(next)).toEqual(['One', 'Two', 'Three'])
    await write('Four')
    expect(textsAt(next)).toEqual(['One', 'Two', 'Three', 'Four'])
  })

  test('asks each hour at most where somebody lives who does not answer', async () => {
    const { alice } = await network.cast('alice')
    const { idTag, home } = await foreigner()
    await post(network, alice, 'Before', { visibility: null, audienceTag: idTag })
    home.onDelivery = (_, answer) => answer.writeHead(500).end()
    for (const text of ['One', 'Two'])
      await post(network, alice, text, { visibility: null, audienceTag: idTag })
    const before = home.questions
    await network.pass(12 * 60 * minuteMs, 10 * minuteMs)
    expect(home.questions - before).toBeGreaterThan(0)
    expect(home.questions - before).toBeLessThanOrEqual(12)
  })

  test('begins again where a page stood in the place of the recipient’s description', async () => {
    const { alice } = await network.cast('alice')
    const { idTag, home } = await foreigner()
    home.showsPage = true
    network.clock.advance(minuteMs)
    const sent = post(network, alice, 'Later', { visibility: null, audienceTag: idTag })
    await sent.catch(() => undefined)
    const bob = await network.person(0, `bob${strangers}`)
    await network.server(0).relate(bob.idTag, idTag, { isFollower: true })
    await post(network, bob, 'To a follower')
    home.showsPage = false
    home.onDelivery = receipt
    await network.pass(60 * minuteMs, 5 * minuteMs)
    expect(textsAt(home)).toContain('To a follower')
  })

  test('of who is known is taken, also while a page stands in the place of the description', async () => {
    const { bob } = await network.cast('bob')
    const { idTag, home } = await foreigner()
    await network.server(0).relate(bob.idTag, idTag, { isFollowing: true })
    const token = (text: string) =>
      home.sign(idTag, { audienceTag: bob.idTag, visibility: 'P', content: { text } })
    expect((await network.server(0).deliver(token('First'))).status).toBe(200)
    home.showsPage = true
    network.clock.advance(25 * 60 * minuteMs)
    expect((await network.server(0).deliver(token('Second'))).body.data?.verified).toBe(true)
    home.rotate(idTag)
    network.clock.advance(10 * minuteMs)
    const rotated = await network.server(0).deliver(token('Third'))
    expect(rotated).toMatchObject({ status: 200, body: { data: { verified: false } } })
    home.showsPage = false
    await network.pass(120 * minuteMs, 5 * minuteMs)
    expect((await feedOf(bob)).toSorted()).toEqual(['First', 'Second', 'Third'])
  })
})
