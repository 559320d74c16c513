import {
  createFile,
  createReference,
  createShare,
  deleteFile,
  deleteShare,
  duplicateFile,
  getAccessToken,
  getFileMetadata,
  getProxyToken,
  listFileHistory,
  restoreFileSnapshot,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DatabaseDevice } from '#harness/database-client.ts'
import { TestServer } from '#harness/test-server.ts'

let server: TestServer
let people = 0
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

async function person() {
  people += 1
  const idTag = `p${people}.localhost`
  await server.createTenant(idTag)
  const client = await server.as(idTag)
  return { idTag, client, token: async () => (await client.call(getAccessToken, {})).data.token }
}

/** A new database of somebody new. */
async function database(visibility: 'P' | 'F' = 'F') {
  const owner = await person()
  const { data } = await owner.client.call(createFile, { body: { fileTp: 'RTDB', visibility } })
  const { fileId } = data
  const place = { idTag: owner.idTag, fileId }
  const token = await owner.token()
  return {
    ...{ owner, place, fileId },
    connect: (query = '') => DatabaseDevice.connect(server, place, token, query),
    as: (other: string | undefined, query = '') => DatabaseDevice.connect(server, place, other, query),
    /** A visitor of this server with a share. */
    async visitor(permission?: 'R' | 'W') {
      const visitor = await person()
      const share =
        permission &&
        (
          await owner.client.call(createShare, {
            params: { fileId },
            body: { subjectType: 'U', subjectId: visitor.idTag, permission },
          })
        ).data
      const proxy = await visitor.client.call(getProxyToken, { query: { target: owner.idTag } })
      return { ...visitor, shareId: share?.id, proxyToken: proxy.data.token }
    },
    async reference(accessLevel: 'read' | 'write') {
      const body = { type: 'share.file', resourceId: fileId, accessLevel } as const
      const { data: ref } = await owner.client.call(createReference, { body })
      const guest = server.client(owner.idTag)
      return (await guest.call(getAccessToken, { query: { ref: ref.refId } })).data.token
    },
  }
}

/** The code with which the server ends a device, a while after now. */
async function codeOf(device: DatabaseDevice, waitMs = 1000): Promise<number> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  server.clock.advance(waitMs)
  return (await device.client.closed).code
}

const error = (code: number) => ({
  type: 'error',
  id: expect.anything(),
  code,
  message: expect.stringMatching(/./),
})

describe('requests', () => {
  test('are answered with the members that are named, and with their id as it was', async () => {
    const { connect } = await database()
    await using device = await connect()
    const { client } = device
    const messages = [
      { id: 1, type: 'ping' },
      { id: 'two', type: 'get', path: '/posts/a/' },
      { type: 'query', path: 'posts' },
      { id: 0, type: 'transaction', operations: [{ type: 'replace', path: 'posts/a', data: { n: 1 } }] },
      { id: 5, type: 'get', path: 'posts/a', select: ['m'] },
      { id: 6, type: 'createIndex', path: 'posts', field: 'n' },
      { id: 7, type: 'unsubscribe', subscriptionId: 'unknown' },
      { id: 8, type: 'lock', path: 'posts/a' },
      { id: 9, type: 'unlock', path: 'posts/a' },
      { type: 'unlock', path: 'posts/a' },
    ]
    for (const message of messages) client.send(message)
    await client.until(messages.length + 1)
    expect(client.json.slice(1)).toEqual([
      { id: 1, type: 'pong' },
      { id: 'two', type: 'getResult', data: null },
      { type: 'queryResult', data: [] },
      { id: 0, type: 'transactionResult', results: [{ ref: null, id: 'a' }] },
      { id: 5, type: 'getResult', data: { id: 'a' } },
      { id: 6, type: 'createIndexResult' },
      { id: 7, type: 'unsubscribeResult' },
      { id: 8, type: 'lockResult', locked: true },
      { id: 9, type: 'unlockResult' },
      { type: 'unlockResult' },
    ])
  })

  test('to subscribe need no id', async () => {
    const { connect } = await database()
    await using device = await connect()
    device.client.send({ type: 'subscribe', path: 'posts' })
    await device.client.until(3)
    const [, answer, ready] = device.client.json
    expect(answer).toEqual({ type: 'subscribeResult', subscriptionId: expect.stringMatching(/^\w{24}$/) })
    expect(ready).toEqual({
      type: 'change',
      id: expect.stringMatching(/^[0-9A-Za-z]{24}$/),
      subscriptionId: answer.subscriptionId,
      event: { action: 'ready', path: 'posts', data: [] },
    })
  })

  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
  test.each([
    ['no type', '{"id":1}'],
    ['an unknown type', '{"id":1,"type":"drop"}'],
    ['an inherited type', '{"id":1,"type":"toString"}'],
    ['a path that is no text', '{"id":1,"type":"get","path":["a","b"]}'],
    ['an empty path', '{"id":1,"type":"query","path":"/"}'],
    ['an empty segment', '{"id":1,"type":"get","path":"a//b/c"}'],
    ['a control character', '{"id":1,"type":"get","path":"a/b\\u0000"}'],
    ['too many segments', `{"id":1,"type":"get","path":"${'a/'.repeat(18)}"}`],
    ['a long segment', `{"id":1,"type":"get","path":"a/${'b'.repeat(129)}"}`],
    ['a collection where a document is meant', '{"id":1,"type":"get","path":"a"}'],
    ['a document where a collection is meant', '{"id":1,"type":"query","path":"a/b"}'],
    ['an aggregate of a document', '{"id":1,"type":"subscribe","path":"a/b","aggregate":{"groupBy":"x"}}'],
    ['a subscription that sorts', '{"id":1,"type":"subscribe","path":"a","sort":[]}'],
    ['a subscription with a limit', '{"id":1,"type":"subscribe","path":"a","limit":1}'],
    ['an operator on no fields', '{"id":1,"type":"subscribe","path":"a","filter":{"equals":1}}'],
    ['alternatives that are none', '{"id":1,"type":"query","path":"a","filter":{"inArray":{"x":"y"}}}'],
    [
      'an unknown operator',
      '{"id":1,"type":"query","path":"a","filter":{"equals":{"x":1},"like":{"x":"y"}}}',
    ],
    [
      'an operator that subscribes to more',
      '{"id":1,"type":"subscribe","path":"a","filter":{"equal":{"x":1}}}',
    ],
    ['an unknown scope', '{"id":1,"type":"subscribe","path":"a","scope":"everything"}'],
    [
      'data that is no object',
      '{"id":1,"type":"transaction","operations":[{"type":"create","path":"a","data":1}]}',
    ],
    [
      'a create at a document',
      '{"id":1,"type":"transaction","operations":[{"type":"create","path":"a/b","data":{}}]}',
    ],
    [
      'an unknown operation',
      '{"id":1,"type":"transaction","operations":[{"type":"merge","path":"a/b","data":{}}]}',
    ],
    [
      'too many operations',
      `{"id":1,"type":"transaction","operations":[${Array(501).fill('{"type":"delete","path":"a/b"}')}]}`,
    ],
    [
      'an unknown function',
      '{"id":1,"type":"transaction","operations":[{"type":"create","path":"a","data":{"x":{"$fn":"eval"}}}]}',
    ],
    ['a lock of an unknown mode', '{"id":1,"type":"lock","path":"a","mode":"firm"}'],
    ['presence where it was not asked for', '{"id":1,"type":"presence","state":{}}'],
    ['a deep filter', `{"id":1,"type":"query","path":"a","filter":{"equals":{"x":${deep}}}}`],
    ['deep data', `{"id":1,"type":"transaction","operations":[{"type":"create","path":"a","data":${deep}}]}`],
  ])('with %s are answered 400, and the socket stays', async (_, text) => {
    const { connect } = await shared
    await using device = await connect()
    device.client.send(text)
    await device.client.until(2)
    expect(device.client.json[1]).toEqual({ ...error(400), id: 1 })
    expect(await device.ask('ping')).toMatchObject({ type: 'pong' })
  })

  test('whose names are members of every object are like others', async () => {
    const { connect } = await database()
    await using device = await connect()
    const data = '{"__proto__":{"x":1},"constructor":2,"toString":3}'
    device.client.send(
      `{"type":"transaction","operations":[{"type":"replace","path":"__proto__/constructor","data":${data}}]}`,
    )
    device.client.send('{"type":"subscribe","path":"__proto__","filter":{"equals":{"constructor":2}}}')
    await device.client.until(4)
    expect(String(device.client.received[3])).toContain('"__proto__":{"x":1}')
    expect(device.client.json[3].event.data).toHaveLength(1)
    device.client.send(
      '{"type":"transaction","operations":[{"type":"update","path":"__proto__/constructor","data":{"__proto__":4}}]}',
    )
    await device.client.until(6)
    expect(String(device.client.received[5])).toContain('"__proto__":4')
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })

  test('that are none are ignored ten times (1008)', async () => {
    const { connect } = await database()
    await using device = await connect()
    for (const text of ['', 'x', '[]', '1', 'null', '"ping"', '{', '{}}', '\u0000', 'true'])
      device.client.send(text)
    expect(await device.ask('ping')).toMatchObject({ type: 'pong' })
    expect(device.client.received).toHaveLength(2)
    device.client.send('x')
    expect(await codeOf(device)).toBe(1008)
  })
})

let shared: ReturnType<typeof database>
beforeAll(() => {
  shared = database()
})

describe('rights', () => {
  test('a guest reads a public database and changes nothing', async () => {
    const { connect, as } = await database('P')
    await using owner = await connect()
    await using guest = await as(undefined)
    const { id } = await guest.subscribe('posts')
    await owner.write('replace', 'posts/a', { n: 1 })
    expect(await guest.told(server, id)).toEqual([
      { action: 'create', path: 'posts/a', data: { id: 'a', n: 1 } },
    ])
    expect((await guest.ask('get', { path: 'posts/a' })).data).toEqual({ id: 'a', n: 1 })
    expect(await guest.write('replace', 'posts/a', { n: 2 })).toEqual(error(403))
    for (const type of ['lock', 'unlock'] as const)
      expect(await guest.ask(type, { path: 'posts/a' })).toEqual(error(403))
    expect(await guest.ask('createIndex', { path: 'posts', field: 'n' })).toEqual(error(403))
    expect((await guest.ask('query', { path: 'posts' })).data).toEqual([{ id: 'a', n: 1 }])
  })

  test('refusals are closes', async () => {
    const { owner, place, as } = await database()
    const stranger = await (await database()).visitor()
    const proxy = await stranger.client.call(getProxyToken, { query: { target: owner.idTag } })
    const opened = async (query: string, fileId: string = place.fileId) =>
      codeOf(await DatabaseDevice.open(server, { ...place, fileId }, query))
    const token = await owner.token()
    const unknown = place.fileId.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'))
    const { data: document } = await owner.client.call(createFile, { body: { fileTp: 'CRDT' } })
    expect([await opened(''), await opened('', unknown), await opened('token=bad')]).toEqual([
      1008, 1008, 1008,
    ])
    expect([
      await opened(`token=${proxy.data.token}`),
      await opened(`token=${token}`, unknown),
      await opened(`token=${token}`, 'nonsense'),
    ]).toEqual([4404, 4404, 4404])
    expect(await opened(`token=${token}`, document.fileId)).toBe(4409)
    await using reader = await as(token, 'access=read')
    expect(await reader.write('replace', 'posts/a', {})).toEqual(error(403))
  })

  test('a reader becomes a writer and a reader again; without any right the socket ends', async () => {
    const { owner, fileId, connect, as, visitor } = await database()
    const { idTag, proxyToken } = await visitor('R')
    await using other = await connect()
    await using device = await as(proxyToken)
    const { id } = await device.subscribe('posts')
    expect(await device.write('create', 'posts', {})).toEqual(error(403))
    const share = async (permission: 'R' | 'W') =>
      (
        await owner.client.call(createShare, {
          params: { fileId },
          body: { subjectType: 'U', subjectId: idTag, permission },
        })
      ).data.id
    const afterReview = async () => {
      server.clock.advance(3000)
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
    await share('W')
    await afterReview()
    await expect.poll(async () => (await device.write('create', 'posts', {})).type).toBe('transactionResult')
    const shareId = await share('R')
    await afterReview()
    await expect.poll(async () => (await device.write('create', 'posts', {})).code).toBe(403)
    await other.write('replace', 'posts/b', {})
    expect((await device.told(server, id)).at(-1)).toMatchObject({ path: 'posts/b' })
    await owner.client.call(deleteShare, { params: { fileId, shareId: String(shareId) } })
    expect(await codeOf(device, 3000)).toBe(4403)
    await owner.client.call(deleteFile, { params: { fileId } })
    expect(await codeOf(other, 3000)).toBe(4404)
  })

  test('another token of the same identity goes on, a bad one or that of another does not', async () => {
    const { owner, connect, visitor } = await database()
    await using device = await connect()
    const { proxyToken } = await visitor('W')
    expect(await device.ask('auth', { token: 'bad' })).toEqual(error(403))
    expect(await device.ask('auth', { token: proxyToken })).toEqual(error(403))
    const narrow = await owner.client.call(getAccessToken, { query: { scope: 'read:actions' } })
    expect(await device.ask('auth', { token: narrow.data.token })).toEqual(error(403))
    expect(await device.ask('auth', { token: await owner.token() })).toMatchObject({ type: 'authResult' })
    expect(await device.write('create', 'posts', {})).toMatchObject({ type: 'transactionResult' })
  })
})

describe('subscriptions', () => {
  test('show a document at their path before they are ready', async () => {
    const { connect } = await database()
    await using device = await connect()
    await device.write('replace', 'posts/a', { n: 1, m: 2 })
    await device.write('replace', 'posts/a/comments/c', { text: 'C' })
    const { id } = await device.subscribe('posts/a', { select: ['n'] })
    await device.write('update', 'posts/a', { n: 2 })
    await device.write('update', 'posts/a/comments/c', { text: 'D' })
    await device.write('update', 'posts/a/comments/c', { n: 1 })
    await device.write('delete', 'posts/a')
    await device.told(server, id)
    const events = device.client.json.filter(
      ({ subscriptionId, type }) => subscriptionId === id && type === 'change',
    )
    expect(events.map(({ event }) => event)).toEqual([
      { action: 'create', path: 'posts/a', data: { id: 'a', n: 1 } },
      { action: 'ready', path: 'posts/a', data: [] },
      { action: 'update', path: 'posts/a', data: { id: 'a', n: 2 } },
      { action: 'update', path: 'posts/a/comments/c', data: { id: 'c', n: 1 } },
      { action: 'delete', path: 'posts/a' },
    ])
  })

  test('tell the writer after the answer, in the order of the operations', async () => {
    const { connect } = await database()
    await using device = await connect()
    const { id, ready } = await device.subscribe('posts', { scope: 'children' })
    expect(ready).toEqual([])
    const before = device.client.received.length
    const operations = [
      { type: 'create', path: 'posts', data: { n: 1 }, ref: '$post' },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the protocol's own
      { type: 'create', path: 'posts/${$post}/comments', data: { n: 2 } },
      { type: 'replace', path: 'posts/z', data: { n: 3 } },
      { type: 'delete', path: 'posts/z' },
    ]
    const { results } = await device.ask('transaction', { operations })
    const [made, comment] = results
    expect(results).toEqual([
      { ref: '$post', id: expect.stringMatching(/^[0-9A-Za-z]{24}$/) },
      { ref: null, id: comment.id },
      { ref: null, id: 'z' },
      { ref: null, id: null },
    ])
    expect(await device.told(server, id)).toEqual([
      { action: 'create', path: `posts/${made.id}`, data: { id: made.id, n: 1 } },
      { action: 'create', path: 'posts/z', data: { id: 'z', n: 3 } },
      { action: 'delete', path: 'posts/z' },
    ])
    expect(device.client.json[before].type).toBe('transactionResult')
  })

  test('tell an update of what is not there as a create', async () => {
    const { connect } = await database()
    await using device = await connect()
    const { id } = await device.subscribe('posts', { select: ['a'] })
    const { results } = await device.write('update', 'posts/a', { 'a.b': 1, gone: null, c: 2 })
    expect(results).toEqual([{ ref: null, id: 'a' }])
    await device.write('update', 'posts/a', { 'a.d': 2 })
    expect(await device.told(server, id)).toEqual([
      { action: 'create', path: 'posts/a', data: { id: 'a', a: { b: 1 } } },
      { action: 'update', path: 'posts/a', data: { id: 'a', a: { b: 1, d: 2 } } },
    ])
  })

  test('keep to their filter and to their scope', async () => {
    const { connect } = await database()
    await using device = await connect()
    await device.write('replace', 'posts/a', { isOpen: true })
    await device.write('replace', 'posts/b', { isOpen: false })
    const open = await device.subscribe('posts', { filter: { equals: { isOpen: true } } })
    const direct = await device.subscribe('posts', { scope: 'children' })
    const one = await device.subscribe('posts/a', { scope: 'document' })
    expect([open.ready, direct.ready, one.ready].map((ready) => ready.length)).toEqual([1, 2, 0])
    await device.write('replace', 'posts/a/comments/c', { isOpen: true })
    await device.ask('transaction', {
      operations: [
        { type: 'update', path: 'posts/a', data: { isOpen: false } },
        { type: 'update', path: 'posts/b', data: { isOpen: true } },
      ],
    })
    const actions = async ({ id }: { id: string }) =>
      (await device.told(server, id)).map(({ action, path }) => `${action} ${path}`)
    expect(await actions(open)).toEqual(['create posts/a/comments/c', 'delete posts/a', 'update posts/b'])
    expect(await actions(direct)).toEqual(['update posts/a', 'update posts/b'])
    expect(await actions(one)).toEqual(['update posts/a'])
    await device.ask('unsubscribe', { subscriptionId: open.id })
    await device.write('delete', 'posts/b')
    expect(await actions(open)).toHaveLength(3)
  })

  test('of aggregates tell the rows that change', async () => {
    const { connect } = await database()
    await using device = await connect()
    await device.write('replace', 'posts/a', { tag: 'x', n: 1 })
    const aggregate = { groupBy: 'tag', ops: [{ op: 'sum', field: 'n' }] }
    const { id, ready } = await device.subscribe('posts', { aggregate })
    expect(ready).toEqual([{ group: 'x', count: 1, sum_n: 1 }])
    await device.write('update', 'posts/a', { tag: 'y' })
    await device.write('update', 'posts/a', { other: 1 })
    expect(await device.told(server, id)).toEqual([
      {
        action: 'update',
        path: 'posts',
        data: [
          { group: 'y', count: 1, sum_n: 1 },
          { group: 'x', count: 0 },
        ],
      },
    ])
  })

  test('are at most a thousand for a socket', async () => {
    const { connect } = await database()
    await using device = await connect()
    for (let at = 0; at < 1000; at += 1) device.client.send({ type: 'subscribe', path: `posts${at}` })
    expect(await device.ask('subscribe', { path: 'more' })).toEqual(error(429))
  })

  test('end with their socket', async () => {
    const { connect } = await database()
    await using device = await connect()
    const gone = await connect()
    await gone.subscribe('posts')
    await gone[Symbol.asyncDispose]()
    await device.write('create', 'posts', {})
    expect(await device.ask('ping')).toMatchObject({ type: 'pong' })
  })
})

describe('locks', () => {
  test('are told to others, keep them from writing, and end with their connection', async () => {
    const { owner, connect, as, visitor, reference } = await database()
    const holder = await connect()
    const { idTag, proxyToken } = await visitor('W')
    await using other = await as(proxyToken)
    await using guest = await as(await reference('write'))
    await holder.write('replace', 'posts/a', { isOpen: true })
    const mine = await holder.subscribe('posts')
    const watched = await other.subscribe('posts', { filter: { equals: { isOpen: true } } })
    const filtered = await other.subscribe('posts', { filter: { equals: { isOpen: false } } })
    const unconcerned = await other.subscribe('posts/b')
    const counted = await other.subscribe('posts', { aggregate: { groupBy: 'isOpen' } })
    await holder.ask('lock', { path: 'posts/a', mode: 'hard' })
    const refused = { locked: false, holder: owner.idTag, mode: 'hard' }
    expect(await other.ask('lock', { path: 'posts/a' })).toMatchObject(refused)
    const locked = { ...error(423), message: expect.stringContaining(owner.idTag) }
    expect(await other.write('delete', 'posts/a')).toMatchObject(locked)
    expect(await guest.write('update', 'posts/a', { n: 1 })).toMatchObject(locked)
    expect(await holder.write('update', 'posts/a', { n: 1 })).toMatchObject({ type: 'transactionResult' })
    const late = await guest.subscribe('posts', { filter: { equals: { isOpen: false } } })
    expect(await other.ask('unlock', { path: 'posts/a' })).toEqual({
      id: expect.anything(),
      type: 'unlockResult',
    })
    await holder[Symbol.asyncDispose]()
    await expect
      .poll(async () => (await other.told(server, watched.id)).map(({ action }) => action))
      .toEqual(['lock', 'update', 'unlock'])
    const connId = expect.stringMatching(/^[0-9A-Za-z]{24}$/)
    const [lock, , unlock] = other.events(watched.id)
    expect(lock).toEqual({
      action: 'lock',
      path: 'posts/a',
      data: { userId: owner.idTag, mode: 'hard', connId },
    })
    expect(unlock).toEqual({
      action: 'unlock',
      path: 'posts/a',
      data: { userId: owner.idTag, connId: lock.data.connId },
    })
    expect(other.events(unconcerned.id)).toEqual([])
    for (const { id } of [filtered, counted])
      expect(other.events(id).map(({ action }) => action)).toEqual(['lock', 'unlock'])
    expect(holder.events(mine.id)).toEqual([lock, expect.objectContaining({ action: 'update' })])
    expect((await guest.told(server, late.id)).map(({ action }) => action)).toEqual(['lock', 'unlock'])
    expect(await guest.ask('lock', { path: 'posts/a' })).toMatchObject({ locked: true })
    expect(await other.ask('lock', { path: 'posts/a' })).toMatchObject({
      locked: false,
      holder: expect.stringMatching(/^anon:[0-9A-Za-z]{24}$/),
    })
    expect(idTag).toBeDefined()
  })

  test('expire after a minute', async () => {
    const { connect } = await database()
    await using device = await connect()
    const { id } = await device.subscribe('posts')
    await device.ask('lock', { path: 'posts' })
    server.clock.advance(60_000)
    await expect
      .poll(async () => (await device.told(server, id)).map(({ action }) => action))
      .toEqual(['lock', 'unlock'])
  })

  test('are told after the answer to who takes and releases them', async () => {
    const { connect } = await database()
    await using device = await connect()
    const { id } = await device.subscribe('posts', { scope: 'children' })
    const before = device.client.received.length
    for (const type of ['lock', 'unlock'] as const) await device.ask(type, { path: 'posts/a' })
    await device.told(server, id)
    expect(
      device.client.json.slice(before, before + 4).map(({ type, event }) => event?.action ?? type),
    ).toEqual(['lockResult', 'lock', 'unlockResult', 'unlock'])
  })
})

describe('presence', () => {
  test('is told to those who ask for it, with the identity that the server knows', async () => {
    const { owner, connect, as, reference } = await database()
    await using first = await connect('presence=1')
    await using guest = await as(await reference('read'), 'presence=1')
    expect(await first.ask('presence', { state: { user: { idTag: 'eve.example' }, at: 1 } })).toEqual({
      id: expect.anything(),
      type: 'presenceResult',
    })
    await guest.ask('presence', { state: { user: { idTag: 'eve.example', name: 'G' } } })
    await using second = await connect('presence=1')
    const { connId } = first.presence[0]
    const shown = { user: { idTag: owner.idTag }, at: 1 }
    expect(guest.presence).toEqual([
      { action: 'sync', connId: guest.presence[0].connId, users: [] },
      { action: 'join', connId, state: shown },
    ])
    expect(first.presence.slice(1)).toEqual([
      { action: 'join', connId: guest.presence[0].connId, state: { user: { name: 'G' } } },
    ])
    expect(second.presence[0].users).toHaveLength(2)
    expect(await second.ask('presence', { state: { text: 'x'.repeat(2048) } })).toEqual(error(413))
    expect(await second.ask('presence', { state: { user: 'me' } })).toEqual(error(400))
    await second.ask('presence', { state: null })
    await first[Symbol.asyncDispose]()
    await expect.poll(() => guest.presence.at(-1)).toEqual({ action: 'leave', connId })
  })
})

test('a guest has a hundred subscriptions', async () => {
  const { as } = await database('P')
  await using guest = await as(undefined)
  for (let at = 0; at < 100; at += 1) await guest.subscribe(`posts${at}`)
  expect(await guest.ask('subscribe', { path: 'more' })).toMatchObject({ type: 'error', code: 429 })
})

test('guests of one address have a thousand subscriptions together, and others still have theirs', async () => {
  const { as, connect } = await database('P')
  const filter = { notEquals: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`f${at}`, at])) }
  const guests = await Promise.all([as(undefined), as(undefined)])
  // 100 conditions each: 5 000 are what an address may ask for.
  for (const guest of guests)
    for (let at = 0; at < 25; at += 1) await guest.subscribe(`posts${at}`, { filter })
  expect(await guests[0]?.ask('subscribe', { path: 'more', filter })).toMatchObject({
    code: 429,
    message: 'this address has too many subscriptions',
  })
  await using owner = await connect()
  await owner.subscribe('posts', { filter })
  for (const guest of guests) await guest[Symbol.asyncDispose]()
  await server.running.features.realtime.settled()
  await using next = await as(undefined)
  await next.subscribe('posts', { filter })
})

test('a database of more than 16 MiB is duplicated with its indexes, and stays', async () => {
  const { owner, fileId, connect } = await database()
  const device = await connect()
  await device.ask('createIndex', { path: 'posts', field: 'n' })
  const text = 'x'.repeat(1_000_000)
  for (let n = 0; n < 18; n += 1) await device.write('replace', `posts/${n}`, { n, text })
  await device.write('update', 'posts/17', { text: 'short' })
  const { data } = await owner.client.call(duplicateFile, { params: { fileId }, body: { fileName: 'copy' } })
  const { data: made } = await owner.client.call(getFileMetadata, { params: { fileId: data.fileId } })
  const { data: from } = await owner.client.call(getFileMetadata, { params: { fileId } })
  expect(made).toMatchObject({ fileName: 'copy', fileTp: 'RTDB', size: from.size })
  const copy = { idTag: owner.idTag, fileId: data.fileId }
  await using other = await DatabaseDevice.connect(server, copy, await owner.token())
  const query = { path: 'posts', filter: { greaterThan: { n: 15 } }, select: ['n'] }
  expect((await other.ask('query', query)).data).toEqual([
    { id: '16', n: 16 },
    { id: '17', n: 17 },
  ])
  expect((await other.ask('get', { path: 'posts/17' })).data).toEqual({ id: '17', n: 17, text: 'short' })
  await other.write('update', 'posts/17', { n: 18 })
  expect((await device.ask('get', { path: 'posts/17' })).data.n).toBe(17)
})

test('a state that is restored is told to those who listen', async () => {
  await using own = await TestServer.start()
  const idTag = 'home.localhost'
  const client = await own.as(idTag)
  const { data: file } = await client.call(createFile, { body: { fileTp: 'RTDB' } })
  const connect = async () => {
    const { data } = await client.call(getAccessToken, {})
    return DatabaseDevice.connect(own, { idTag, fileId: file.fileId }, data.token)
  }
  const early = await connect()
  await early.write('replace', 'posts/a', { n: 1 })
  await early[Symbol.asyncDispose]()
  own.clock.advance(2 * 3_600_000)
  await own.settle()
  await using device = await connect()
  await device.write('update', 'posts/a', { n: 2 })
  const { id } = await device.subscribe('posts')
  const { fileId } = file
  const { data: history } = await client.call(listFileHistory, { params: { fileId } })
  const seq = history[0]?.seq ?? 0
  await client.call(restoreFileSnapshot, { params: { fileId, seq } })
  expect(await device.told(own, id)).toEqual([{ action: 'update', path: 'posts/a', data: { id: 'a', n: 1 } }])
})
