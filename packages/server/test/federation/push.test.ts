import {
  type ActionId,
  createAction,
  createApiKey,
  deleteAction,
  getAccessToken,
  getProxyToken,
  getVapidKey,
  listSessions,
  logout,
  type NewAction,
  putSetting,
  revokeSession,
  setReaction,
  subscribePush,
  unsubscribePush,
} from '@kith/protocol'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BusDevice } from '#harness/bus-client.ts'
import { startDnsServer } from '#harness/dns-server.ts'
import { type PushedBrowser, PushService } from '#harness/push-service.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { TestServer } from '#harness/test-server.ts'
import { connect, follow } from './acts.ts'

let network: TestNetwork
let service: PushService
beforeAll(async () => {
  network = await TestNetwork.start(2)
  service = await PushService.start()
})
afterAll(async () => {
  await network[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

async function subscribe({ client }: Pick<Person, 'client'>, browser = service.browser()) {
  await client.call(getVapidKey)
  const { data } = await client.call(subscribePush, { body: { subscription: browser.subscription } })
  return { browser, id: data.id }
}

async function say({ client }: Person, body: NewAction): Promise<ActionId> {
  const { data } = await client.call(createAction, { body })
  await network.settle()
  return data.actionId as ActionId
}

// Of the example in RFC 8291.
const somePoint = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'

const letter = (to: Person, text: string): NewAction => ({
  type: 'MSG',
  audienceTag: to.idTag,
  content: { text },
})

/** Two people who may write to each other, the second with a browser. */
async function pair() {
  const { alice, bob } = await network.cast('alice', 'bob')
  await connect(network, alice, bob)
  return { alice, bob, ...(await subscribe(bob)) }
}

const messages = ({ pushed }: PushedBrowser) => pushed.map(({ message }) => message)
const previews = ({ pushed }: PushedBrowser) =>
  pushed.map(({ message }) => (message as { preview: string }).preview)

describe('a browser', () => {
  test('is sent what its owner has received, in a way that only it can read', async () => {
    const { alice, bob, browser } = await pair()
    const actionId = await say(alice, letter(bob, `Tea\u202e\n at   four? ${'🍵'.repeat(300)}`))
    const [pushed] = browser.pushed
    expect(pushed?.message).toEqual({
      type: 'action',
      actionType: 'MSG',
      issuer: alice.idTag,
      preview: `Tea at four? ${'🍵'.repeat(146)}…`,
      actionId,
      conversationId: expect.stringMatching(/^c1~/),
    })
    expect(pushed?.headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      ttl: '86400',
      urgency: 'high',
      topic: expect.stringMatching(/^[\w-]{32}$/),
    })
    expect(pushed?.bytes).toBeLessThanOrEqual(3072)
  })

  test('is shown by a signature who sends (RFC 8292)', async () => {
    const { alice, bob, browser } = await pair()
    await say(alice, letter(bob, 'Hello'))
    const { publicKey } = (await bob.client.call(getVapidKey)).data
    const [, jwt = '', key] =
      /^vapid t=([^,]+), k=(.+)$/.exec(String(browser.pushed[0]?.headers.authorization)) ?? []
    expect(key).toBe(publicKey)
    const point = Buffer.from(publicKey, 'base64url')
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'))
    const keys = createLocalJWKSet({ keys: [{ kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }] })
    const currentDate = new Date(network.clock.now())
    const { payload } = await jwtVerify(jwt, keys, { algorithms: ['ES256'], currentDate })
    const { origin } = new URL(browser.subscription.endpoint)
    expect([payload.aud, payload.sub]).toEqual([origin, network.server(1).urlOf(bob.idTag)])
    expect((payload.exp ?? 0) - network.clock.now() / 1000).toBeLessThanOrEqual(86_400)
  })

  test('keeps its number when it subscribes again, with new keys', async () => {
    const { alice, bob, browser, id } = await pair()
    const anew = service.browser()
    const { endpoint } = anew.subscription
    const first = { ...anew.subscription, keys: browser.subscription.keys }
    const { data } = await bob.client.call(subscribePush, { body: { subscription: first } })
    expect(data.id).not.toBe(id)
    expect((await subscribe(bob, anew)).id).toBe(data.id)
    await bob.client.call(unsubscribePush, { params: { id } })
    await say(alice, letter(bob, 'Hello'))
    expect([previews(browser), previews(anew), endpoint]).toEqual([[], ['Hello'], anew.subscription.endpoint])
  })

  test('is sent nothing while a client is connected, and again afterwards', async () => {
    const { alice, bob, browser } = await pair()
    const server = network.server(1)
    const device = await BusDevice.connect(server, bob.idTag, await server.signIn(bob.idTag))
    await say(alice, letter(bob, 'seen'))
    expect(browser.pushed).toEqual([])
    await device[Symbol.asyncDispose]()
    await say(alice, letter(bob, 'not seen'))
    expect(previews(browser)).toEqual(['not seen'])
  })

  test('is told of no text where its owner does not want it, and of the post that it is about', async () => {
    const { alice, bob, browser } = await pair()
    const params = { name: 'notify.push.show_text' }
    await bob.client.call(putSetting, { params, body: { value: false } })
    const postId = await say(bob, { type: 'POST', content: { text: 'Mine' }, visibility: 'P' })
    const actionId = await say(alice, { type: 'CMNT', parentId: postId, content: { text: 'Secret' } })
    await say(alice, letter(bob, 'Secret too'))
    expect(messages(browser)).toMatchObject([{ preview: '', actionId, postId }, { preview: '' }])
  })

  test('is asked about by kind', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    const { browser } = await subscribe(bob)
    const switched = (name: string, value: boolean) =>
      bob.client.call(putSetting, { params: { name: `notify.push.${name}` }, body: { value } })
    await switched('follow', false)
    await follow(network, alice, bob)
    await switched('follow', true)
    await connect(network, alice, bob)
    const post = await say(bob, { type: 'POST', content: { text: 'Mine' }, visibility: 'P' })
    const react = () => alice.client.call(setReaction, { params: { actionId: post }, body: { type: 'LOVE' } })
    await react()
    await network.settle()
    await say(alice, { type: 'CMNT', parentId: post, content: { text: 'Nice' } })
    await say(alice, { type: 'CMNT', parentId: post, content: { text: `I mean @${bob.idTag}` } })
    await say(alice, { type: 'POST', content: { text: `With @${bob.idTag}` }, visibility: 'P' })
    await say(alice, { type: 'POST', content: { text: 'About nobody' }, visibility: 'P' })
    const shown = messages(browser).map((message) => (message as { actionType: string }).actionType)
    expect(shown).toEqual(['CONN', 'CMNT', 'CMNT', 'POST'])
  })

  test('is not sent what was deleted, or what the owner does not want to see', async () => {
    const { alice, bob, browser } = await pair()
    browser.status = 503
    const actionId = await say(alice, letter(bob, 'a mistake'))
    await alice.client.call(deleteAction, { params: { actionId } })
    await network.settle()
    browser.status = 201
    network.clock.advance(60_000)
    await network.settle()
    expect(previews(browser)).toEqual(['a mistake'])
  })

  test('hears nothing more once its session was ended, or its owner suspended', async () => {
    const { alice, bob, browser } = await pair()
    const { data: sessions } = await bob.client.call(listSessions)
    const server = network.server(1)
    const other = server.client(bob.idTag, await server.signIn(bob.idTag))
    const second = await subscribe({ client: other })
    await other.call(revokeSession, { params: { sid: sessions.find(({ current }) => current)?.sid ?? '' } })
    await say(alice, letter(bob, 'one'))
    expect([previews(browser), previews(second.browser)]).toEqual([[], ['one']])
    await server.suspend(bob.idTag)
    await say(alice, letter(bob, 'two'))
    expect(previews(second.browser)).toEqual(['one'])
  })
})

describe('a subscription ends', () => {
  test('with its session, also when that expires', async () => {
    const { alice, bob } = await pair()
    const server = network.server(1)
    const signedIn = server.client(bob.idTag, await server.signIn(bob.idTag))
    const { browser, id } = await subscribe({ client: signedIn })
    network.clock.advance(40 * 86_400_000)
    await network.settle()
    const again = await network.server(0).as(alice.idTag)
    await again.call(createAction, { body: letter(bob, 'late') })
    await network.settle()
    expect(browser.pushed).toEqual([])
    const client = await server.as(bob.idTag)
    await expect(client.call(unsubscribePush, { params: { id } })).rejects.toMatchObject({ status: 404 })
  })

  test('when what it was about is switched off, or a client comes, before it could be sent', async () => {
    const { alice, bob, browser } = await pair()
    browser.status = 503
    await say(alice, letter(bob, 'one'))
    const setting = { params: { name: 'notify.push.message' }, body: { value: false } }
    await bob.client.call(putSetting, setting)
    network.clock.advance(60_000)
    await network.settle()
    expect(previews(browser)).toEqual(['one'])
  })
})

describe('a push service', () => {
  /** How often something was tried with this outcome, on the server of the browsers. */
  const tried = async (outcome: string) => {
    const { text } = await network.server(1).running.services.metrics.scrape()
    return Number(
      new RegExp(`^kith_push_messages_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
    )
  }

  test.each([
    [201, 'sent'],
    [410, 'removed'],
    [400, 'refused'],
    [503, 'retry'],
  ])('that answers %d is counted as %s', async (status, outcome) => {
    const { alice, bob, browser } = await pair()
    browser.status = status
    const before = await tried(outcome)
    await say(alice, letter(bob, 'counted'))
    expect(await tried(outcome)).toBe(before + 1)
  })

  test.each([404, 410])('that answers %d ends the subscription', async (status) => {
    const { alice, bob, browser, id } = await pair()
    browser.status = status
    await say(alice, letter(bob, 'one'))
    browser.status = 201
    await say(alice, letter(bob, 'two'))
    expect(previews(browser)).toEqual(['one'])
    await expect(bob.client.call(unsubscribePush, { params: { id } })).rejects.toMatchObject({
      status: 404,
      code: 'E-NOTFOUND',
    })
  })

  test.each([400, 413])('that answers %d is not asked again', async (status) => {
    const { alice, bob, browser } = await pair()
    browser.status = status
    await say(alice, letter(bob, 'one'))
    network.clock.advance(3_600_000)
    await network.settle()
    expect(previews(browser)).toEqual(['one'])
    browser.status = 201
    await say(alice, letter(bob, 'two'))
    expect(previews(browser)).toEqual(['one', 'two'])
  })

  test('that answers 429 is asked again when it says', async () => {
    const { alice, bob, browser } = await pair()
    browser.status = 429
    browser.headers = { 'retry-after': '600' }
    await say(alice, letter(bob, 'later'))
    browser.status = 201
    network.clock.advance(599_000)
    await network.settle()
    expect(browser.pushed).toHaveLength(1)
    network.clock.advance(2_000)
    await network.settle()
    expect(browser.pushed).toHaveLength(2)
    expect(browser.pushed[1]?.headers.ttl).toBe(String(86_400 - 601))
  })

  test.each([500, 0])(
    'that fails (%d) is asked five times more, the first time after ten seconds',
    async (status) => {
      const { alice, bob, browser } = await pair()
      browser.status = status
      await say(alice, letter(bob, 'lost'))
      network.clock.advance(9_000)
      await network.settle()
      expect(browser.pushed).toHaveLength(1)
      for (let hour = 0; hour < 12; hour += 1) {
        network.clock.advance(3_600_000)
        await network.settle()
      }
      expect(browser.pushed).toHaveLength(6)
    },
  )
})

describe('a subscription', () => {
  test('is of a person who acts for the tenant, and that person removes it', async () => {
    const { alice, bob, id } = await pair()
    const { subscription } = service.browser()
    const { data: key } = await bob.client.call(createApiKey, { body: { name: 'ci' } })
    const machine = network.server(1).client(bob.idTag, key.key)
    await expect(machine.call(subscribePush, { body: { subscription } })).rejects.toMatchObject({
      status: 403,
    })
    await expect(machine.call(unsubscribePush, { params: { id: 999_999 } })).rejects.toMatchObject({
      status: 404,
    })
    await expect(alice.client.call(unsubscribePush, { params: { id } })).rejects.toMatchObject({
      status: 404,
    })
    const guest = network.server(1).client(bob.idTag)
    await expect(guest.call(subscribePush, { body: { subscription } })).rejects.toMatchObject({ status: 401 })
    const { data: narrow } = await bob.client.call(getAccessToken, {
      query: { scope: 'write:notifications' },
    })
    const { data: proxy } = await alice.client.call(getProxyToken, { query: { target: bob.idTag } })
    for (const token of [narrow.token, proxy.token]) {
      const other = network.server(1).client(bob.idTag, token)
      await expect(other.call(subscribePush, { body: { subscription } })).rejects.toMatchObject({
        status: 403,
      })
    }
    await bob.client.call(unsubscribePush, { params: { id } })
  })

  test('that is made while its session ends is not kept', async () => {
    await using dns = await startDnsServer()
    dns.set('push.example', 'A', '192.0.2.1')
    await using server = await TestServer.start({ env: { DNS_SERVERS: dns.address } })
    const client = await server.as(server.baseIdTag)
    const release = dns.hold('push.example')
    const endpoint = 'https://push.example/x'
    const subscription = { ...service.browser().subscription, endpoint }
    const subscribing = client.call(subscribePush, { body: { subscription } })
    const refused = expect(subscribing).rejects.toMatchObject({ status: 401 })
    await expect.poll(() => dns.questions).toContain('A push.example')
    await client.call(logout)
    release()
    await refused
  })

  test('with spaces around its address does not disturb the others', async () => {
    const { alice, bob, browser } = await pair()
    const { subscription } = service.browser()
    const odd = `\n${subscription.endpoint}\n`
    await bob.client.call(subscribePush, { body: { subscription: { ...subscription, endpoint: odd } } })
    await say(alice, letter(bob, 'Hello'))
    expect(previews(browser)).toEqual(['Hello'])
  })

  test.each([
    ['no point', { keys: { p256dh: 'AAAA', auth: 'A'.repeat(22) } }],
    [
      'a point beside the curve',
      { keys: { p256dh: Buffer.alloc(65, 4).toString('base64url'), auth: 'A'.repeat(22) } },
    ],
    ['a short secret', { keys: { p256dh: somePoint, auth: 'AAAA' } }],
    ['one that has expired', { expirationTime: 1000 }],
    ['an end beyond all times', { expirationTime: 1e25 }],
    ['no URL', { endpoint: 'push' }],
    ['a URL with a password', { endpoint: 'https://a:b@push.example/x' }],
  ])('with %s is refused', async (_, part) => {
    const { bob } = await network.cast('alice', 'bob')
    const subscription = { ...service.browser().subscription, ...part }
    await expect(bob.client.call(subscribePush, { body: { subscription } })).rejects.toMatchObject({
      status: 400,
      code: 'E-VALIDATION',
    })
  })

  test('at an address of the inner network, or without TLS, is refused where that is not allowed', async () => {
    await using server = await TestServer.start({ env: { ALLOW_PRIVATE_NETWORK: 'false' } })
    const client = await server.as(server.baseIdTag)
    const { subscription } = service.browser()
    for (const endpoint of [subscription.endpoint, 'https://127.0.0.1/x', 'http://push.example/x'])
      await expect(
        client.call(subscribePush, { body: { subscription: { ...subscription, endpoint } } }),
      ).rejects.toMatchObject({ status: 400, code: 'E-VALIDATION' })
  })

  test('makes room for newer ones above twenty', async () => {
    const { alice, bob, browser } = await pair()
    const newer: PushedBrowser[] = []
    for (let count = 0; count < 20; count += 1) {
      network.clock.advance(1000)
      newer.push((await subscribe(bob)).browser)
    }
    await say(alice, letter(bob, 'Hello'))
    expect([browser, ...newer].map(({ pushed }) => pushed.length)).toEqual([0, ...newer.map(() => 1)])
  })
})
