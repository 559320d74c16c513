import {
  createAction,
  createApiKey,
  deleteAction,
  getAccessToken,
  getProxyToken,
  getVapidKey,
  listSessions,
  logout,
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
import type { PushedBrowser } from '#harness/push-service.ts'
import { TestServer } from '#harness/test-server.ts'
import { connect, follow } from './acts.ts'
import { letter, messages, PushTown, previews } from './push-acts.ts'

let town: PushTown
beforeAll(async () => {
  town = await PushTown.start()
})
afterAll(() => town[Symbol.asyncDispose]())

// Of the example in RFC 8291.
const somePoint = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'

describe('a browser', () => {
  test('is sent what its owner has received, in a way that only it can read', async () => {
    const { alice, bob, browser } = await town.pair()
    const actionId = await town.say(alice, letter(bob, `Tea\u202e\n at   four? ${'🍵'.repeat(300)}`))
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
    const { alice, bob, browser } = await town.pair()
    await town.say(alice, letter(bob, 'Hello'))
    const { publicKey } = (await bob.client.call(getVapidKey)).data
    const [, jwt = '', key] =
      /^vapid t=([^,]+), k=(.+)$/.exec(String(browser.pushed[0]?.headers.authorization)) ?? []
    expect(key).toBe(publicKey)
    const point = Buffer.from(publicKey, 'base64url')
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'))
    const keys = createLocalJWKSet({ keys: [{ kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }] })
    const currentDate = new Date(town.network.clock.now())
    const { payload } = await jwtVerify(jwt, keys, { algorithms: ['ES256'], currentDate })
    const { origin } = new URL(browser.subscription.endpoint)
    expect([payload.aud, payload.sub]).toEqual([origin, town.network.server(1).urlOf(bob.idTag)])
    expect((payload.exp ?? 0) - town.network.clock.now() / 1000).toBeLessThanOrEqual(86_400)
  })

  test('keeps its number when it subscribes again, with new keys', async () => {
    const { alice, bob, browser, id } = await town.pair()
    const anew = town.service.browser()
    const { endpoint } = anew.subscription
    const first = { ...anew.subscription, keys: browser.subscription.keys }
    const { data } = await bob.client.call(subscribePush, { body: { subscription: first } })
    expect(data.id).not.toBe(id)
    expect((await town.subscribe(bob, anew)).id).toBe(data.id)
    await bob.client.call(unsubscribePush, { params: { id } })
    await town.say(alice, letter(bob, 'Hello'))
    expect([previews(browser), previews(anew), endpoint]).toEqual([[], ['Hello'], anew.subscription.endpoint])
  })

  test('is sent nothing while a client is connected, and again afterwards', async () => {
    const { alice, bob, browser } = await town.pair()
    const server = town.network.server(1)
    const device = await BusDevice.connect(server, bob.idTag, await server.signIn(bob.idTag))
    await town.say(alice, letter(bob, 'seen'))
    expect(browser.pushed).toEqual([])
    await device[Symbol.asyncDispose]()
    await town.say(alice, letter(bob, 'not seen'))
    expect(previews(browser)).toEqual(['not seen'])
  })

  test('is told of no text where its owner does not want it, and of the post that it is about', async () => {
    const { alice, bob, browser } = await town.pair()
    const params = { name: 'notify.push.show_text' }
    await bob.client.call(putSetting, { params, body: { value: false } })
    const postId = await town.say(bob, { type: 'POST', content: { text: 'Mine' }, visibility: 'P' })
    const actionId = await town.say(alice, { type: 'CMNT', parentId: postId, content: { text: 'Secret' } })
    await town.say(alice, letter(bob, 'Secret too'))
    expect(messages(browser)).toMatchObject([{ preview: '', actionId, postId }, { preview: '' }])
  })

  test('is asked about by kind', async () => {
    const { alice, bob } = await town.network.cast('alice', 'bob')
    const { browser } = await town.subscribe(bob)
    const switched = (name: string, value: boolean) =>
      bob.client.call(putSetting, { params: { name: `notify.push.${name}` }, body: { value } })
    await switched('follow', false)
    await follow(town.network, alice, bob)
    await switched('follow', true)
    await connect(town.network, alice, bob)
    const post = await town.say(bob, { type: 'POST', content: { text: 'Mine' }, visibility: 'P' })
    const react = () => alice.client.call(setReaction, { params: { actionId: post }, body: { type: 'LOVE' } })
    await react()
    await town.network.settle()
    await town.say(alice, { type: 'CMNT', parentId: post, content: { text: 'Nice' } })
    await town.say(alice, { type: 'CMNT', parentId: post, content: { text: `I mean @${bob.idTag}` } })
    await town.say(alice, { type: 'POST', content: { text: `With @${bob.idTag}` }, visibility: 'P' })
    await town.say(alice, { type: 'POST', content: { text: 'About nobody' }, visibility: 'P' })
    const shown = messages(browser).map((message) => (message as { actionType: string }).actionType)
    expect(shown).toEqual(['CONN', 'CMNT', 'CMNT', 'POST'])
  })

  test('is not sent what was deleted, or what the owner does not want to see', async () => {
    const { alice, bob, browser } = await town.pair()
    browser.status = 503
    const actionId = await town.say(alice, letter(bob, 'a mistake'))
    await alice.client.call(deleteAction, { params: { actionId } })
    await town.network.settle()
    browser.status = 201
    town.network.clock.advance(60_000)
    await town.network.settle()
    expect(previews(browser)).toEqual(['a mistake'])
  })

  test('hears nothing more once its session was ended, or its owner suspended', async () => {
    const { alice, bob, browser } = await town.pair()
    const { data: sessions } = await bob.client.call(listSessions)
    const server = town.network.server(1)
    const other = server.client(bob.idTag, await server.signIn(bob.idTag))
    const second = await town.subscribe({ client: other })
    await other.call(revokeSession, { params: { sid: sessions.find(({ current }) => current)?.sid ?? '' } })
    await town.say(alice, letter(bob, 'one'))
    expect([previews(browser), previews(second.browser)]).toEqual([[], ['one']])
    await server.suspend(bob.idTag)
    await town.say(alice, letter(bob, 'two'))
    expect(previews(second.browser)).toEqual(['one'])
  })
})

describe('a subscription ends', () => {
  test('with its session, also when that expires', async () => {
    const { alice, bob } = await town.pair()
    const server = town.network.server(1)
    const signedIn = server.client(bob.idTag, await server.signIn(bob.idTag))
    const { browser, id } = await town.subscribe({ client: signedIn })
    town.network.clock.advance(40 * 86_400_000)
    await town.network.settle()
    const again = await town.network.server(0).as(alice.idTag)
    await again.call(createAction, { body: letter(bob, 'late') })
    await town.network.settle()
    expect(browser.pushed).toEqual([])
    const client = await server.as(bob.idTag)
    await expect(client.call(unsubscribePush, { params: { id } })).rejects.toMatchObject({ status: 404 })
  })

  test('within an hour of its session, where nothing is sent', async () => {
    const { bob } = await town.pair()
    const server = town.network.server(1)
    const signedIn = server.client(bob.idTag, await server.signIn(bob.idTag))
    const { id } = await town.subscribe({ client: signedIn })
    town.network.clock.advance(40 * 86_400_000)
    await town.network.settle()
    const client = await server.as(bob.idTag)
    await expect(client.call(unsubscribePush, { params: { id } })).rejects.toMatchObject({ status: 404 })
  })

  test('when what it was about is switched off, or a client comes, before it could be sent', async () => {
    const { alice, bob, browser } = await town.pair()
    browser.status = 503
    await town.say(alice, letter(bob, 'one'))
    const setting = { params: { name: 'notify.push.message' }, body: { value: false } }
    await bob.client.call(putSetting, setting)
    town.network.clock.advance(60_000)
    await town.network.settle()
    expect(previews(browser)).toEqual(['one'])
  })
})

describe('a subscription', () => {
  test('is of a person who acts for the tenant, and that person removes it', async () => {
    const { alice, bob, id } = await town.pair()
    const { subscription } = town.service.browser()
    const { data: key } = await bob.client.call(createApiKey, { body: { name: 'ci' } })
    const machine = town.network.server(1).client(bob.idTag, key.key)
    await expect(machine.call(subscribePush, { body: { subscription } })).rejects.toMatchObject({
      status: 403,
    })
    await expect(machine.call(unsubscribePush, { params: { id: 999_999 } })).rejects.toMatchObject({
      status: 404,
    })
    await expect(alice.client.call(unsubscribePush, { params: { id } })).rejects.toMatchObject({
      status: 404,
    })
    const guest = town.network.server(1).client(bob.idTag)
    await expect(guest.call(subscribePush, { body: { subscription } })).rejects.toMatchObject({ status: 401 })
    const { data: narrow } = await bob.client.call(getAccessToken, {
      query: { scope: 'write:notifications' },
    })
    const { data: proxy } = await alice.client.call(getProxyToken, { query: { target: bob.idTag } })
    for (const token of [narrow.token, proxy.token]) {
      const other = town.network.server(1).client(bob.idTag, token)
      await expect(other.call(subscribePush, { body: { subscription } })).rejects.toMatchObject({
        status: 403,
      })
    }
    await bob.client.call(unsubscribePush, { params: { id } })
  })

  test('is 201 when it is new, and 200 when it is renewed', async () => {
    const { bob } = await town.network.cast('alice', 'bob')
    const server = town.network.server(1)
    const token = await server.tokenOfSession(bob.idTag)
    const send = async (subscription: object) => {
      const answer = await server.request(bob.idTag, subscribePush.path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ subscription }),
      })
      return [answer.status, await answer.json()]
    }
    const [one, other] = [town.service.browser(), town.service.browser()]
    const [status, made] = await send(one.subscription)
    expect([status, made]).toEqual([201, { id: expect.any(Number) }])
    expect(await send({ ...one.subscription, keys: other.subscription.keys })).toEqual([200, made])
    const [again, next] = await send(other.subscription)
    expect(again).toBe(201)
    expect(next).not.toEqual(made)
    await bob.client.call(unsubscribePush, { params: { id: (made as { id: number }).id } })
    expect((await send(one.subscription))[0]).toBe(201)
  })

  test('that is made while its session ends is not kept', async () => {
    await using dns = await startDnsServer()
    dns.set('push.example', 'A', '192.0.2.1')
    await using server = await TestServer.start({ env: { DNS_SERVERS: dns.address } })
    const client = await server.as(server.baseIdTag)
    const release = dns.hold('push.example')
    const endpoint = 'https://push.example/x'
    const subscription = { ...town.service.browser().subscription, endpoint }
    const subscribing = client.call(subscribePush, { body: { subscription } })
    const refused = expect(subscribing).rejects.toMatchObject({ status: 401 })
    await expect.poll(() => dns.questions).toContain('A push.example')
    await client.call(logout)
    release()
    await refused
  })

  test('with spaces around its address does not disturb the others', async () => {
    const { alice, bob, browser } = await town.pair()
    const { subscription } = town.service.browser()
    const odd = `\n${subscription.endpoint}\n`
    await bob.client.call(subscribePush, { body: { subscription: { ...subscription, endpoint: odd } } })
    await town.say(alice, letter(bob, 'Hello'))
    expect(previews(browser)).toEqual(['Hello'])
  })

  test.each([
    ['no point', { keys: { p256dh: 'AAAA', auth: 'A'.repeat(22) } }],
    [
      'a point beside the curve',
      { keys: { p256dh: Buffer.alloc(65, 4).toString('base64url'), auth: 'A'.repeat(22) } },
    ],
    // A hybrid point: the prefix also tells whether y is odd.
    ['a point of another form', { keys: { p256dh: somePoint.replace('BC', 'Bi'), auth: 'A'.repeat(22) } }],
    ['a point and more', { keys: { p256dh: `${somePoint}!`, auth: 'A'.repeat(22) } }],
    ['a short secret', { keys: { p256dh: somePoint, auth: 'AAAA' } }],
    ['one that has expired', { expirationTime: 1000 }],
    ['an end beyond all times', { expirationTime: 1e25 }],
    ['no URL', { endpoint: 'push' }],
    ['a URL with a password', { endpoint: 'https://a:b@push.example/x' }],
  ])('with %s is refused', async (_, part) => {
    const { bob } = await town.network.cast('alice', 'bob')
    const subscription = { ...town.service.browser().subscription, ...part }
    await expect(bob.client.call(subscribePush, { body: { subscription } })).rejects.toMatchObject({
      status: 400,
      code: 'E-VALIDATION',
    })
  })

  test('at an address of the inner network, or without TLS, is refused where that is not allowed', async () => {
    await using server = await TestServer.start({ env: { ALLOW_PRIVATE_NETWORK: 'false' } })
    const client = await server.as(server.baseIdTag)
    const { subscription } = town.service.browser()
    for (const endpoint of [subscription.endpoint, 'https://127.0.0.1/x', 'http://push.example/x'])
      await expect(
        client.call(subscribePush, { body: { subscription: { ...subscription, endpoint } } }),
      ).rejects.toMatchObject({
        status: 400,
        details: {
          issues: [{ path: '/subscription/endpoint', message: 'must be a public https address' }],
        },
      })
  })

  test('makes room for newer ones above twenty', async () => {
    const { alice, bob, browser } = await town.pair()
    const newer: PushedBrowser[] = []
    for (let count = 0; count < 20; count += 1) {
      town.network.clock.advance(1000)
      newer.push((await town.subscribe(bob)).browser)
    }
    await town.say(alice, letter(bob, 'Hello'))
    expect([browser, ...newer].map(({ pushed }) => pushed.length)).toEqual([0, ...newer.map(() => 1)])
  })
})
