import { getAccessToken, getProxyToken } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

let server: TestServer
let alice: string
let bob: string
beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant('alice.localhost', { name: 'Alice' })
  await server.createTenant('bob.localhost')
  alice = await server.signIn('alice.localhost')
  bob = await server.signIn('bob.localhost')
})
afterAll(() => server.stop())

interface Answer {
  readonly status: number
  readonly body: {
    data?: never
    error?: { code: string; details?: { issues: { path: string }[] } }
  } & Record<string, unknown>
}

async function send(
  method: string,
  path: string,
  options: { token?: string | undefined; body?: unknown; host?: string } = {},
): Promise<Answer> {
  const { token, body, host = 'alice.localhost' } = options
  const response = await server.request(host, path, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

const outcome = ({ status, body }: Answer) => [status, body.error?.code]
const post = (text: string, members: object = {}) => ({
  type: 'POST',
  content: { text },
  visibility: 'P',
  ...members,
})

async function publish(members: object = {}): Promise<string> {
  const { status, body } = await send('POST', '/api/actions', { token: alice, body: post('Hello', members) })
  expect(status).toBe(201)
  return (body.data as unknown as { actionId: string }).actionId
}

describe('POST /api/actions', () => {
  test('answers 201 with Unix seconds, lists and reads answer ISO', async () => {
    const { status, body } = await send('POST', '/api/actions', { token: alice, body: post('Hello') })
    expect(status).toBe(201)
    expect(body).toEqual({
      data: {
        actionId: expect.stringMatching(/^a1~/),
        type: 'POST',
        issuerTag: 'alice.localhost',
        content: { text: 'Hello' },
        visibility: 'P',
        published: expect.any(Number),
        status: 'A',
        createdAt: Math.floor(server.clock.now() / 1000),
      },
      time: expect.stringMatching(/Z$/),
      reqId: expect.any(String),
    })
    const { actionId } = body.data as unknown as { actionId: string }
    const iso = new Date(server.clock.now()).toISOString()
    const read = await send('GET', `/api/actions/${actionId}`)
    expect(read.body.data).toMatchObject({
      createdAt: iso,
      issuer: { idTag: 'alice.localhost', name: 'Alice' },
    })
    const list = await send('GET', '/api/action?_limit=1')
    expect(list.body).toMatchObject({
      data: [{ actionId, createdAt: iso }],
      cursorPagination: expect.any(Object),
    })
  })

  test.each<[string, object, string]>([
    ['an unknown type', { type: 'COMMENT', content: {} }, '/type'],
    ['no type', { content: {} }, '/type'],
    ['milliseconds', { ...post('a'), expiresAt: 1_767_225_600_000 }, '/expiresAt'],
    ['an unknown visibility', { ...post('a'), visibility: 'X' }, '/visibility'],
    ['missing content', { type: 'POST' }, '/content'],
    ['content of another form', { type: 'POST', content: 'Hello' }, '/content'],
    ['51 attachments', post('a', { attachments: Array(51).fill('b') }), '/attachments'],
  ])('is 400 for %s', async (_, body, path) => {
    const answer = await send('POST', '/api/actions', { token: alice, body })
    expect(outcome(answer)).toEqual([400, 'E-VALIDATION'])
    expect(answer.body.error?.details?.issues.map((issue) => issue.path)).toContain(path)
  })

  test('ignores what only the server may set', async () => {
    const forged = { issuerTag: 'eve.localhost', status: 'D', createdAt: 1, actionId: 'mine', tnId: 7 }
    const { body } = await send('POST', '/api/actions', { token: alice, body: post('Hello', forged) })
    expect(body.data).toMatchObject({ issuerTag: 'alice.localhost', status: 'A' })
    expect(body.data).not.toMatchObject({ createdAt: 1 })
  })

  test('is 403 for visitors', async () => {
    const body = post('no')
    const { data } = await server
      .client('bob.localhost', bob)
      .call(getProxyToken, { query: { target: 'alice.localhost' } })
    expect(outcome(await send('POST', '/api/actions', { token: data.token, body }))).toEqual([
      403,
      'E-AUTH-FORBIDDEN',
    ])
  })

  test('is 403 with a token that is for something else', async () => {
    const narrowed = async (scope: string) =>
      (await server.client('alice.localhost', alice).call(getAccessToken, { query: { scope } })).data.token
    const files = await narrowed('write:files')
    const read = await narrowed('read:actions')
    const own = await publish({ visibility: null })
    for (const token of [files, read])
      expect(outcome(await send('POST', '/api/actions', { token, body: post('no') }))).toEqual([
        403,
        'E-AUTH-FORBIDDEN',
      ])
    expect(outcome(await send('GET', `/api/actions/${own}`, { token: files }))).toEqual([
      403,
      'E-AUTH-FORBIDDEN',
    ])
    expect((await send('GET', `/api/actions/${own}`, { token: read })).status).toBe(200)
    expect(outcome(await send('DELETE', `/api/actions/${own}`, { token: read }))).toEqual([
      403,
      'E-AUTH-FORBIDDEN',
    ])
  })
})

describe('GET /api/actions', () => {
  test.each([
    'limit=0',
    'limit=201',
    'cursor=rubbish',
    'sort=name',
    'sortDir=up',
    'status=Active',
    'createdAfter=soon',
    'type=COMMENT',
    'type=post',
    'type=POST,STAT',
    'type=',
    'status=',
    'type=,',
    '_offset=10001',
  ])('is 400 for %s', async (query) => {
    expect(outcome(await send('GET', `/api/actions?${query}`))).toEqual([400, 'E-VALIDATION'])
  })

  test('takes aliases, and timestamps in both forms', async () => {
    const actionId = await publish()
    const after = Math.floor(server.clock.now() / 1000) - 10
    for (const query of [
      'issuerTag=alice.localhost',
      `actionIds=${actionId},a1~x`,
      `createdAfter=${after}`,
      `createdAfter=${new Date(after * 1000).toISOString()}`,
      'status=A,C&type=POST,CMNT&unknown=1',
    ]) {
      const { body } = await send('GET', `/api/actions?${query}`)
      expect((body.data as unknown as { actionId: string }[]).map((action) => action.actionId)).toContain(
        actionId,
      )
    }
  })

  test('answers offset pagination when it is asked by offset', async () => {
    await publish()
    const { body } = await send('GET', '/api/actions?_offset=0&_limit=1', { token: alice })
    expect(body).toMatchObject({
      pagination: { total: expect.any(Number), offset: 0, limit: 1, hasMore: true },
    })
    expect(body).not.toHaveProperty('cursorPagination')
  })

  test('may not be kept by anybody', async () => {
    const response = await server.request('alice.localhost', '/api/actions')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })
})

test('ids that are none are unknown, on every path', async () => {
  const paths = ['', '/publish', '/cancel', '/accept', '/reject', '/dismiss']
  for (const path of paths) {
    const answer = await send(path === '' ? 'GET' : 'POST', `/api/actions/act_1${path}`, { token: alice })
    expect(outcome(answer)).toEqual([404, 'E-ACTION-NOTFOUND'])
  }
})

test('an action goes through its life: draft, schedule, publication, reaction, deletion', async () => {
  const token = alice
  const actionId = await publish({ draft: true })
  const path = `/api/actions/${actionId}`
  expect(await send('PATCH', path, { token, body: { content: { text: 'Better' } } })).toMatchObject({
    status: 200,
    body: { data: { actionId, type: 'POST', status: 'R', content: { text: 'Better' } } },
  })
  const publishAt = new Date(server.clock.now() + 60_000).toISOString()
  const scheduled = await send('POST', `${path}/publish`, { token, body: { publishAt } })
  expect(scheduled.body.data).toEqual({ actionId, type: 'POST', status: 'S' })
  expect((await send('POST', `${path}/cancel`, { token })).body.data).toEqual({
    actionId,
    type: 'POST',
    status: 'R',
  })
  expect((await send('POST', `${path}/publish`, { token })).body.data).toEqual({
    actionId,
    type: 'POST',
    status: 'A',
  })
  expect(outcome(await send('POST', `${path}/publish`, { token }))).toEqual([409, 'E-STATE'])
  const reacted = await send('POST', `${path}/reaction`, { token, body: { type: 'LOVE' } })
  expect(reacted.body.data).toMatchObject({ actionId, stat: { reactions: 1, ownReaction: 'LOVE' } })
  expect((await send('POST', `${path}/dismiss`, { token })).body).toMatchObject({ data: null })
  expect(outcome(await send('POST', `${path}/stat`, { token, body: { views: 1 } }))).toEqual([
    403,
    'E-AUTH-FORBIDDEN',
  ])
  expect((await send('DELETE', path, { token })).body).toMatchObject({ data: 'ok' })
  expect(outcome(await send('DELETE', path, { token }))).toEqual([404, 'E-ACTION-NOTFOUND'])
  expect(outcome(await send('GET', path, { token }))).toEqual([404, 'E-ACTION-NOTFOUND'])
})

test('a text that no token can carry is 413, and the answer names it', async () => {
  const body = post('😀'.repeat(50_000))
  const answer = await send('POST', '/api/actions', { token: alice, body })
  expect(outcome(answer)).toEqual([413, 'E-TOOLARGE'])
  expect(answer.body.error?.details?.issues).toMatchObject([{ path: '/content' }])
})

test('an administrator sets counts on the base tenant’s host', async () => {
  const admin = await server.signIn(server.baseIdTag)
  const host = server.baseIdTag
  const made = await send('POST', '/api/actions', { token: admin, host, body: post('Hello') })
  const { actionId } = made.body.data as unknown as { actionId: string }
  const stat = await send('POST', `/api/actions/${actionId}/stat`, {
    token: admin,
    host,
    body: { comments: 4 },
  })
  expect(stat.body.data).toEqual({ reactions: 0, comments: 4, views: 0, shares: 0, ownReaction: null })
})

test('a scheduled action goes out at its time', async () => {
  const publishAt = Math.floor(server.clock.now() / 1000) + 60
  const actionId = await publish({ publishAt })
  expect((await send('GET', `/api/actions/${actionId}`, { token: alice })).body.data).toMatchObject({
    status: 'S',
  })
  server.clock.advance(60_000)
  await server.settle()
  expect((await send('GET', `/api/actions/${actionId}`)).body.data).toMatchObject({ status: 'A' })
})
