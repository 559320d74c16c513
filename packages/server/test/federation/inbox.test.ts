import { listActions, putSetting } from '@kith/protocol'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ForeignServer } from '#harness/foreign-server.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import type { TestServer } from '#harness/test-server.ts'
import { feedOf } from './acts.ts'

const minuteMs = 60_000
const dora = 'dora.foreign.localhost'
const eve = 'eve.evil.localhost'
// Whom Bob follows: who is no stranger to him.
const friends = [
  dora,
  eve,
  'frank.rotating.localhost',
  'hugo.sleeping.localhost',
  'ida.gone.localhost',
  'lea.busy.localhost',
]
const written = [
  'actions',
  'action_attachments',
  'relations',
  'jobs',
  'files',
  'blobs',
  'identities',
] as const

describe('the inbox', () => {
  let network: TestNetwork
  let server: TestServer
  let foreign: ForeignServer
  let evil: ForeignServer
  let bob: Person

  beforeAll(async () => {
    network = await TestNetwork.start(1)
    server = network.server(0)
    foreign = await network.addForeign(dora)
    evil = await network.addForeign(eve)
  })
  afterAll(() => network[Symbol.asyncDispose]())
  beforeEach(async () => {
    ;({ bob } = await network.cast('bob'))
    for (const friend of friends) await server.relate(bob.idTag, friend, { isFollowing: true })
    foreign.fault = undefined
  })

  const now = () => Math.floor(network.clock.now() / 1000)
  const toBob = (members: Record<string, unknown> = {}) => ({
    audienceTag: bob.idTag,
    visibility: 'P',
    content: { text: 'Hello' },
    ...members,
  })

  /** Delivers tokens, some at the same time, and counts the answers by status. */
  async function deliverAll(tokens: readonly string[]): Promise<Record<number, number>> {
    const counts: Record<number, number> = {}
    for (let from = 0; from < tokens.length; from += 25)
      for (const { status } of await Promise.all(
        tokens.slice(from, from + 25).map((token) => server.deliver(token)),
      ))
        counts[status] = (counts[status] ?? 0) + 1
    return counts
  }

  test('takes what concerns a tenant, and answers with a receipt', async () => {
    const { status, body } = await server.deliver(foreign.sign(dora, toBob()))
    expect({ status, ...body.data }).toMatchObject({ status: 'received', verified: true })
    expect(await feedOf(bob)).toEqual(['Hello'])
  })

  test('is not spoiled by a number that was stored before it was refused', async () => {
    await server.deliver(foreign.sign(dora, toBob({ content: { text: 'Bad' } })))
    await server.deliver(foreign.sign(dora, toBob({ content: { text: 'Good' } })))
    await server.db.transact(bob.tenantId, async (tx) => {
      const actions = tx.tables<{ actions: { tenant_id: number; content: string; expires_at: number } }>()
      const bad = actions.updateTable('actions').set({ expires_at: sql<number>`9007199254740992` })
      await bad.where('tenant_id', '=', tx.tenantId).where('content', 'like', '%Bad%').execute()
    })
    expect((await feedOf(bob)).toSorted()).toEqual(['Bad', 'Good'])
  })

  test('refuses a bad token, and nothing of it remains', async () => {
    const good = foreign.sign(dora, toBob())
    const [header = '', payload = '', signature = ''] = good.split('.')
    const reheaded = (members: object) =>
      `${Buffer.from(JSON.stringify({ alg: 'ES384', typ: 'JWT', kid: '202601011234', ...members })).toString('base64url')}.${payload}.${signature}`
    const otherSignature = foreign.sign(dora, toBob()).split('.')[2]
    await server.deliver(foreign.sign(dora, { audienceTag: 'nobody.localhost' }))
    await network.settle()
    const before = await server.countRows(...written)

    const bad: [name: string, token: string, status: number, reason?: string][] = [
      ['no token', 'hello', 400, 'malformed'],
      ['two parts', `${header}.${payload}`, 400, 'malformed'],
      ['four parts', `${good}.${signature}`, 400, 'malformed'],
      ['an empty signature', `${header}.${payload}.`, 400, 'malformed'],
      ['another token’s signature', `${header}.${payload}.${otherSignature}`, 401, 'bad-signature'],
      ['no algorithm', reheaded({ alg: 'none' }), 401, 'bad-signature'],
      ['a secret for a key', reheaded({ alg: 'HS256' }), 401, 'bad-signature'],
      ['a smaller curve', reheaded({ alg: 'ES256' }), 401, 'bad-signature'],
      ['a key of its own', reheaded({ jwk: {} }), 400, 'malformed'],
      ['a place to find the key', reheaded({ jku: 'http://127.0.0.1/' }), 400, 'malformed'],
      ['an unknown issuer', evil.sign('nobody.evil.localhost', toBob(), { by: eve }), 401, 'unknown-issuer'],
      ['somebody else’s key', evil.sign(dora, toBob(), { by: eve }), 401, 'key-unavailable'],
      [
        'an action id of somebody else',
        foreign.sign(dora, toBob({ actionId: `a1~${'A'.repeat(43)}` })),
        400,
        'malformed',
      ],
      [
        'an issuer in capitals',
        foreign.sign('Dora.foreign.localhost', toBob(), { by: dora }),
        400,
        'malformed',
      ],
      ['an issue six minutes ahead', foreign.sign(dora, toBob({ iat: now() + 360 })), 503],
      ['milliseconds', foreign.sign(dora, toBob({ iat: now() * 1000 })), 400, 'malformed'],
      ['an expiry beyond all numbers', foreign.sign(dora, toBob({ expiresAt: 2 ** 53 })), 400, 'malformed'],
      ['U+0000', foreign.sign(dora, toBob({ content: { tags: ['\0'] } })), 400, 'malformed'],
      ['an end in the past', foreign.sign(dora, toBob({ exp: now() - 1 })), 400, 'expired'],
      ['no end', foreign.sign(dora, toBob({ exp: undefined })), 400, 'malformed'],
      ['content that is no object', foreign.sign(dora, toBob({ content: 'text' })), 400, 'malformed'],
      ['an unknown visibility', foreign.sign(dora, toBob({ visibility: 'X' })), 400, 'malformed'],
      ['nobody here', foreign.sign(dora, { audienceTag: 'somebody.elsewhere.localhost' }), 404],
      [
        'too many attachments',
        foreign.sign(dora, toBob({ attachments: Array(51).fill('b1~x') })),
        400,
        'malformed',
      ],
      ['300 kB', foreign.sign(dora, toBob({ content: { text: 'x'.repeat(300_000) } })), 413],
    ]
    for (const path of ['/api/inbox', '/api/inbox/sync'] as const)
      for (const [name, token, status, reason] of bad) {
        const answer = await server.deliver(token, path)
        const { error } = answer.body
        const given = { name, status: answer.status, reason: error?.details?.reason }
        expect(given).toEqual({ name, status, reason })
      }
    expect(await server.countRows(...written)).toEqual(before)
    expect(await feedOf(bob)).toEqual([])
  })

  describe('of who is no stranger only', () => {
    const open = (isOpen: boolean) =>
      bob.client.call(putSetting, { params: { name: 'privacy.open_messages' }, body: { value: isOpen } })
    const direct = (members: Record<string, unknown> = {}) =>
      foreign.sign(dora, toBob({ visibility: undefined, ...members }))
    const unknownThread = { type: 'CMNT', parentId: `a1~${'A'.repeat(43)}`, visibility: 'P' }

    test.each<[string, Record<string, unknown>]>([
      ['a message', { type: 'MSG' }],
      ['a comment in a thread that is not held here', unknownThread],
    ])('it takes %s', async (_, members) => {
      const refused = { status: 403 }
      const held = async () => (await bob.client.call(listActions, {})).data.length
      await server.relate(bob.idTag, dora, { isFollowing: false })
      const early = direct(members)
      for (const path of ['/api/inbox/sync', '/api/inbox/sync', '/api/inbox'] as const)
        expect(await server.deliver(early, path)).toMatchObject(refused)
      expect(await held()).toBe(0)
      await open(true)
      await server.deliver(direct(members))
      await open(false)
      await server.relate(bob.idTag, dora, { isFollowing: true })
      await server.deliver(direct(members))
      await server.relate(bob.idTag, dora, { isFollowing: false, connection: 'connected' })
      await server.deliver(direct(members))
      expect(await server.deliver(early)).toMatchObject({ status: 200 })
      expect(await held()).toBe(4)
    })
  })

  test('serves very many followers, in order, and leaves out who is suspended', async () => {
    const names = Array.from({ length: 19 }, (_, n) => `fan${n}-of-${bob.idTag.split('.')[0]}`)
    const fans = await Promise.all(names.map((name) => network.person(0, name)))
    for (const fan of fans) await server.relate(fan.idTag, 'nora.famous.localhost', { isFollowing: true })
    const [absent] = fans.splice(0, 1)
    if (absent) await server.suspend(absent.idTag)
    const home = await network.addForeign('nora.famous.localhost')
    const all = (text: string) => home.sign('nora.famous.localhost', { content: { text }, visibility: 'P' })
    for (const text of ['One', 'Two']) expect((await server.deliver(all(text))).status).toBe(200)
    const { body } = await server.deliver(all('Three'), '/api/inbox/sync')
    expect(body.data).toMatchObject({ status: 'processed' })
    await network.settle()
    const holders = await server.countRows('actions')
    for (const fan of fans) expect((await feedOf(fan)).toSorted()).toEqual(['One', 'Three', 'Two'])
    await server.deliver(all('Four'))
    await network.settle()
    expect((await server.countRows('actions')).actions).toBe(Number(holders.actions) + fans.length)
  })

  test('keeps of what its type refuses only that it was here, and tells a sender that waits why', async () => {
    const unfit = foreign.sign(dora, toBob({ content: { text: 7 } }))
    expect((await server.deliver(unfit)).status).toBe(200)
    expect(await feedOf(bob)).toEqual([])
    const other = foreign.sign(dora, toBob({ content: { text: 7 } }))
    expect((await server.deliver(other, '/api/inbox/sync')).status).toBe(400)
  })

  test('takes a token from a clock that is five minutes ahead, or months behind', async () => {
    const times = [now() + 299, now() - 179 * 86_400]
    for (const iat of times)
      expect((await server.deliver(foreign.sign(dora, toBob({ iat, createdAt: iat })))).status).toBe(200)
    expect(await feedOf(bob)).toHaveLength(2)
  })

  test('asks the sender to come again when a clock is more than five minutes ahead, and then takes it', async () => {
    const token = foreign.sign(dora, toBob({ iat: now() + 360 }))
    const { status, headers, body } = await server.deliver(token)
    expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '60' })
    expect(body).toMatchObject({ error: { code: 'E-UNAVAILABLE' } })
    network.clock.advance(minuteMs)
    expect((await server.deliver(token)).status).toBe(200)
    expect(await feedOf(bob)).toEqual(['Hello'])
  })

  test('answers 415 to what is no token, and takes one in JSON', async () => {
    const token = foreign.sign(dora, toBob())
    const send = (type: string, body: string) =>
      server.request(server.baseIdTag, '/api/inbox', {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      })
    expect((await send('text/html', token)).status).toBe(415)
    expect((await send('application/json', JSON.stringify({ token }))).status).toBe(200)
  })

  test('asks once for the keys of an issuer who has new ones, and still takes what the old one signed', async () => {
    const frank = 'frank.rotating.localhost'
    const home = await network.addForeign(frank)
    const early = home.sign(frank, toBob({ content: { text: 'Before' } }))
    expect((await server.deliver(home.sign(frank, toBob({ content: { text: 'First' } })))).status).toBe(200)
    expect(home.questions).toBe(1)
    network.clock.advance(10 * minuteMs)
    home.rotate(frank)
    network.clock.advance(1000)
    expect((await server.deliver(home.sign(frank, toBob({ content: { text: 'After' } })))).status).toBe(200)
    expect(home.questions).toBe(2)
    expect((await server.deliver(early)).status).toBe(200)
    expect(home.questions).toBe(2)
    // What was published in the same second stands in the order of its arrival.
    expect(await feedOf(bob)).toEqual(['After', 'Before', 'First'])
  })

  test('refuses what a retired key signs', async () => {
    const gina = 'gina.rotating.localhost'
    const home = await network.addForeign(gina)
    const forgedLater = home.sign(gina, toBob({ iat: now() + 120 }))
    home.rotate(gina)
    expect((await server.deliver(forgedLater)).status).toBe(401)
  })

  test('keeps a token whose issuer’s server is down, shows it to nobody, and verifies it later', async () => {
    const hugo = 'hugo.sleeping.localhost'
    const home = await network.addForeign(hugo)
    home.fault = 503
    const token = home.sign(hugo, toBob())
    const { status, body } = await server.deliver(token)
    expect({ status, verified: body.data?.verified }).toEqual({ status: 200, verified: false })
    expect((await server.deliver(token, '/api/inbox/sync')).status).toBe(503)
    expect(await feedOf(bob)).toEqual([])

    await network.pass(30 * minuteMs)
    // At most once in five minutes.
    expect(home.requests.length).toBeLessThanOrEqual(8)
    expect(await feedOf(bob)).toEqual([])
    home.fault = undefined
    await network.pass(65 * minuteMs, 5 * minuteMs)
    expect(await feedOf(bob)).toEqual(['Hello'])
  })

  test('drops a token that cannot be verified for a day, and leaves no trace', async () => {
    const ida = 'ida.gone.localhost'
    const home = await network.addForeign(ida)
    home.fault = 503
    await network.settle()
    const { jobs } = await server.countRows('jobs')
    expect((await server.deliver(home.sign(ida, toBob()))).body.data?.verified).toBe(false)
    await network.pass(26 * 60 * minuteMs, 120 * minuteMs)
    expect(await server.countRows('jobs')).toEqual({ jobs })
    home.fault = undefined
    expect(await feedOf(bob)).toEqual([])
  })

  test('does not keep what it cannot verify and what concerns nobody, and does not say so', async () => {
    const home = await network.addForeign('jan.down.localhost')
    home.fault = 503
    await network.settle()
    const before = await server.countRows('jobs')
    const token = home.sign('jan.down.localhost', { audienceTag: 'nobody.localhost' })
    expect(await server.deliver(token)).toMatchObject({ status: 200, body: { data: { verified: false } } })
    expect(await server.countRows('jobs')).toEqual(before)
  })

  test('keeps a bounded number of tokens for issuers of one domain', async () => {
    const home = await network.addForeign('kim.flood.localhost')
    home.fault = 503
    const tokens = Array.from({ length: 205 }, () => home.sign('kim.flood.localhost', toBob()))
    expect(await deliverAll(tokens)).toEqual({ 200: 200, 503: 5 })
    // One that waits already is no more.
    expect((await server.deliver(tokens[0] ?? '')).status).toBe(200)
    home.fault = undefined
    await network.pass(130 * minuteMs, 15 * minuteMs)
    expect(await server.countRows('waiting_tokens')).toEqual({ waiting_tokens: 0 })
  })

  test('keeps a bounded number of bytes for issuers of one domain, and from one sender', async () => {
    const names = ['a.big1.localhost', 'b.big1.localhost', 'c.big2.localhost', 'd.big3.localhost']
    const home = await network.addForeign(...names)
    home.fault = 503
    const big = (issuerTag: string) => home.sign(issuerTag, toBob({ x: { text: 'x'.repeat(160_000) } }))
    const statuses: number[] = []
    for (const [at, name] of [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1].entries())
      statuses[at] = (await server.deliver(big(names[name] ?? ''))).status
    expect(statuses).toEqual([...Array(9).fill(200), 503, 503])
    const refused = await server.deliver(big('a.big1.localhost'))
    expect(refused.headers.get('retry-after')).toBe('300')
    for (let at = 0; at < 9; at += 1) expect((await server.deliver(big('c.big2.localhost'))).status).toBe(200)
    for (const status of [200, 503])
      expect((await server.deliver(big('d.big3.localhost'))).status).toBe(status)
    await network.pass(26 * 60 * minuteMs, 120 * minuteMs)
    expect(await server.countRows('waiting_tokens')).toEqual({ waiting_tokens: 0 })
  })

  test('takes 600 tokens a minute from one issuer, and counts only what that issuer signed', async () => {
    const lea = 'lea.busy.localhost'
    const home = await network.addForeign(lea)
    for (let n = 0; n < 20; n += 1) {
      const forged = evil.sign(lea, toBob(), { by: eve })
      expect((await server.deliver(forged)).status).toBe(401)
    }
    const ack = () => home.sign(lea, { type: 'ACK', audienceTag: 'x.localhost' })
    expect(await deliverAll(Array.from({ length: 600 }, ack))).toEqual({ 404: 600 })
    expect(await deliverAll([ack()])).toEqual({ 429: 1 })
    const { status, headers } = await server.deliver(home.sign(lea, toBob()))
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await server.deliver(foreign.sign(dora, toBob()))).status).toBe(200)
    network.clock.advance(minuteMs)
    expect((await server.deliver(home.sign(lea, toBob()))).status).toBe(200)
  })
})
