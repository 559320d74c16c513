import { once } from 'node:events'
import { type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Client, KithError } from '@kith/client'
import {
  blockDomain,
  createApiKey,
  createFile,
  downloadFile,
  getAccessToken,
  listFiles,
  logout,
  unblockDomain,
  updateRelationship,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ForeignServer } from '#harness/foreign-server.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'

const mallory = 'mallory.localhost'
const token = 'their-token-for-bob'
const fileId = `b1~${'A'.repeat(43)}`

let network: TestNetwork
let foreign: ForeignServer
let bob: Person
let at: Client
let exchanges = 0

beforeAll(async () => {
  network = await TestNetwork.start(1)
  foreign = await network.addForeign(mallory)
})
afterAll(() => network[Symbol.asyncDispose]())
beforeEach(async () => {
  ;({ bob } = await network.cast('bob'))
  at = bob.client.at(mallory)
  exchanges = 0
})

function json(answer: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  answer.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** A server that gives tokens, and answers everything else in this way. */
function answering(answerRest: RequestListener): void {
  foreign.onRequest = (request, answer) => {
    if (!request.url?.startsWith('/api/auth/access-token')) return void answerRest(request, answer)
    exchanges += 1
    json(answer, 200, { data: { token, expiresAt: network.clock.now() / 1000 + 3600 } })
  }
}

const failure = async (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: KithError) => error,
  )
const envelope = (data: unknown) => ({ data, cursorPagination: { nextCursor: null, hasMore: false } })
const error = (code: string, message: string, details?: object) => ({ error: { code, message, details } })

const file = {
  fileId,
  status: 'A',
  fileTp: 'BLOB',
  contentType: 'text/plain',
  fileName: 'a.txt',
  tags: [],
  parentId: null,
  visibility: null,
  owner: { idTag: mallory, name: 'Mallory' },
  createdAt: '2026-01-31T12:00:00.000Z',
}

describe('Answers', () => {
  test.each<[string, (answer: ServerResponse) => void]>([
    [
      'HTML',
      (answer) => answer.writeHead(200, { 'content-type': 'text/html' }).end('<script>alert(1)</script>'),
    ],
    ['another form', (answer) => json(answer, 200, envelope([{ ...file, tags: 'none' }]))],
    ['a missing member', (answer) => json(answer, 200, envelope([{ fileId }]))],
    ['no envelope', (answer) => json(answer, 200, [file])],
    [
      'an endless cursor',
      (answer) =>
        json(answer, 200, { data: [], cursorPagination: { nextCursor: 'x'.repeat(3000), hasMore: true } }),
    ],
    ['deep JSON', (answer) => answer.writeHead(200).end(`{"data":${'['.repeat(100_000)}`)],
    ['an empty body', (answer) => answer.writeHead(200).end()],
    ['a redirect', (answer) => answer.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['a redirect to a page here', (answer) => answer.writeHead(307, { location: '/api/files' }).end()],
    ['another status', (answer) => json(answer, 226, envelope([]))],
    ['a failure of the server', (answer) => json(answer, 500, error('E-INTERNAL', 'stack'))],
    ['a length of 1 GB', (answer) => answer.writeHead(200, { 'content-length': `${2 ** 30}` }).write('{')],
    ['more than 4 MiB', (answer) => answer.end(`{"data":"${'x'.repeat(5 * 1024 ** 2)}"}`)],
  ])('%s is 502, in our own words', async (_, answer) => {
    answering((_request, response) => answer(response))
    expect(await failure(at.call(listFiles, {}))).toMatchObject({
      status: 502,
      code: 'E-UNAVAILABLE',
      message: 'The other server gave an answer that cannot be used.',
      details: { reason: 'bad-answer' },
    })
  })

  test.each<[string, (answer: ServerResponse) => void]>([
    [
      'a compressed one',
      (answer) =>
        answer.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{}'.padEnd(10_000_000))),
    ],
    [
      'one that breaks off',
      (answer) => answer.writeHead(200, { 'content-length': '100' }).write('{"data"', () => answer.destroy()),
    ],
    ['none', (answer) => void answer.destroy()],
  ])('%s is no answer', async (_, answer) => {
    answering((_request, response) => answer(response))
    expect(await failure(at.call(listFiles, {}))).toMatchObject({
      status: 503,
      code: 'E-UNAVAILABLE',
      details: { reason: 'no-answer' },
    })
  })

  test('silence ends after ten seconds', async () => {
    const asked = Promise.withResolvers<void>()
    answering(() => asked.resolve())
    const failed = failure(at.call(listFiles, {}))
    await asked.promise
    network.clock.advance(10_000)
    expect(await failed).toMatchObject({ status: 503, details: { reason: 'no-answer' } })
  })

  test('members that the contract has not, headers and cookies do not pass', async () => {
    answering((_, answer) =>
      json(
        answer,
        200,
        { ...envelope([{ ...file, evil: '<b>' }]), reqId: 'theirs', extra: 1 },
        {
          'set-cookie': '__Host-kith=theirs',
          'x-evil': '1',
          'access-control-allow-origin': '*',
          'x-request-id': 'theirs',
          refresh: '0; url=http://evil.example',
        },
      ),
    )
    const answer = await raw(`/api/at/${mallory}/files`)
    const { data, ...rest } = (await answer.json()) as { data: unknown }
    expect(data).toEqual([file])
    expect(Object.keys(rest).sort()).toEqual(['cursorPagination', 'reqId', 'time'])
    for (const name of ['set-cookie', 'x-evil', 'access-control-allow-origin', 'refresh'])
      expect(answer.headers.get(name)).toBeNull()
    expect(answer.headers.get('x-request-id')).not.toBe('theirs')
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  test.each<[string, number, object, object, Partial<KithError>]>([
    [
      'a code of ours',
      404,
      error('E-FILE-NOTFOUND', 'Gone fishing.'),
      {},
      { status: 404, code: 'E-FILE-NOTFOUND', message: 'Gone fishing.' },
    ],
    [
      'an unknown code',
      404,
      error('E-EVIL', 'x'),
      {},
      { status: 404, code: 'E-NOTFOUND', message: 'There is nothing here.' },
    ],
    [
      'a code with another status',
      200 + 203,
      error('E-FILE-NOTFOUND', 'x'),
      {},
      { status: 403, code: 'E-AUTH-FORBIDDEN' },
    ],
    [
      'markup',
      403,
      error('E-AUTH-FORBIDDEN', '<img src=x>'),
      {},
      { status: 403, message: 'You do not have the right to do this.' },
    ],
    [
      'a long message',
      409,
      error('E-STATE', 'x'.repeat(400)),
      {},
      { status: 409, message: 'The present state does not allow this.' },
    ],
    [
      'reversed text',
      409,
      error('E-STATE', 'a\u202eb'),
      {},
      { status: 409, message: 'The present state does not allow this.' },
    ],
    ['details', 409, error('E-STATE', 'No.', { token: 'x' }), {}, { status: 409, details: undefined }],
    [
      'issues',
      400,
      error('E-VALIDATION', 'No.', { issues: [{ path: '/query/a', message: 'is wrong', x: 1 }, 7] }),
      {},
      { details: { issues: [{ path: '/query/a', message: 'is wrong' }] } },
    ],
    ['HTML', 404, {}, { 'content-type': 'text/html' }, { status: 404, code: 'E-NOTFOUND' }],
    [
      'a long wait',
      429,
      error('E-RATELIMIT', 'Wait.'),
      { 'retry-after': '999999' },
      { status: 429, retryAfterSecs: 3600 },
    ],
    [
      'a wait of no number',
      429,
      error('E-RATELIMIT', 'Wait.'),
      { 'retry-after': 'evil' },
      { status: 429, retryAfterSecs: 60 },
    ],
  ])('failures: %s', async (_, status, body, headers, wanted) => {
    answering((_request, answer) => json(answer, status, body, headers))
    expect(await failure(at.call(listFiles, {}))).toMatchObject(wanted)
  })
})

describe('Bytes', () => {
  const bytes = 'body { color: red }'
  const served = (headers: object, body = bytes, status = 200) =>
    answering((_, answer) =>
      answer.writeHead(status, { 'content-length': `${body.length}`, ...headers }).end(body),
    )

  test.each([
    ['text/html', 'application/octet-stream'],
    ['application/xhtml+xml', 'application/octet-stream'],
    ['text/html; charset=utf-8', 'application/octet-stream'],
    ['image/svg+xml', 'image/svg+xml'],
    ['text/javascript', 'application/octet-stream'],
    ['text/css', 'application/octet-stream'],
    ['multipart/related; boundary=x', 'application/octet-stream'],
    ['nonsense', 'application/octet-stream'],
    ['image/png', 'image/png'],
  ])('of type %s come as %s, with our headers', async (type, wanted) => {
    served({
      'content-type': type,
      'content-disposition': 'inline; filename="../../x\r\ny"'.replaceAll(/[\r\n]/g, ''),
      'content-security-policy': '',
      'cache-control': 'public, max-age=31536000',
      'set-cookie': 'a=b',
      etag: 'W/"weak"',
      link: '<x>; rel=preload',
    })
    const { data } = await at.call(downloadFile, { params: { fileId } })
    const { headers } = data
    expect(await data.text()).toBe(bytes)
    expect(headers.get('content-type')).toBe(wanted)
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('private, no-cache')
    expect(headers.get('content-disposition')).toBe(
      wanted === 'image/png' ? 'inline; filename="file"' : 'attachment; filename="file"',
    )
    for (const name of ['set-cookie', 'etag', 'link']) expect(headers.get(name)).toBeNull()
  })

  test.each<[string, number, object]>([
    ['another range', 206, { 'content-range': 'bytes 3-6/100', 'content-length': '4' }],
    ['a range of another length', 206, { 'content-range': 'bytes 2-5/100', 'content-length': '3' }],
    ['a range without length', 206, { 'content-range': 'bytes 2-5/100', 'transfer-encoding': 'chunked' }],
    ['a range without its place', 206, { 'content-length': '4' }],
    ['another success', 203, { 'content-length': '4' }],
    ['a redirect', 302, { location: 'http://127.0.0.1:1/' }],
  ])('%s is 502', async (_, status, headers) => {
    answering((_request, answer) =>
      answer
        .writeHead(status, headers as Record<string, string>)
        .end('abcd'.slice(0, Number((headers as Record<string, string>)['content-length'] ?? 4))),
    )
    const asked = at.call(downloadFile, { params: { fileId }, headers: { range: 'bytes=2-5' } })
    expect(await failure(asked)).toMatchObject({ status: 502, details: { reason: 'bad-answer' } })
  })

  test('a body that breaks off breaks off here', async () => {
    answering((_, answer) =>
      answer.writeHead(200, { 'content-length': '1000' }).write('half', () => answer.destroy()),
    )
    const { data } = await at.call(downloadFile, { params: { fileId } })
    await expect(data.text()).rejects.toThrow()
  })

  test('a body in chunks that breaks off does as well', async () => {
    answering((_, answer) => answer.writeHead(200).write('half', () => answer.destroy()))
    const { data } = await at.call(downloadFile, { params: { fileId } })
    await expect(data.text()).rejects.toThrow()
  })
})

describe('What leaves', () => {
  test('is what the contract has, and no token of ours', async () => {
    answering((_, answer) => json(answer, 200, envelope([])))
    await raw(`/api/at/${mallory}/files?limit=5&evil=1&token=secret&tags=a,b`, {
      headers: { cookie: 'a=b', 'x-evil': '1', 'x-forwarded-for': '192.0.2.7' },
    })
    const asked = foreign.requests.at(-1)
    expect(asked?.url).toBe('/api/files?tags=a%2Cb&limit=5')
    expect(asked?.headers.authorization).toBe(`Bearer ${token}`)
    for (const name of ['cookie', 'x-evil', 'x-forwarded-for', 'origin', 'referer'])
      expect(asked?.headers[name]).toBeUndefined()
  })

  test('a body is checked before it leaves, and written anew', async () => {
    answering((_, answer) => json(answer, 201, { data: {} }))
    const before = foreign.requests.length
    const wrong = await raw(`/api/at/${mallory}/files`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"fileTp":"X"}',
    })
    expect([wrong.status, foreign.requests.length]).toEqual([400, before])
    await failure(at.call(createFile, { body: { fileTp: 'FLDR', fileName: 'a', evil: 1 } as never }))
    expect(JSON.parse(foreign.requests.at(-1)?.body ?? '')).toEqual({ fileTp: 'FLDR', fileName: 'a' })
  })

  test.each([
    [`/api/at/${mallory}/files/..%2f..%2fauth%2fsessions`, 404],
    [`/api/at/${mallory}/files/%2e%2e`, 404],
    [`/api/at/${mallory}/files/%252e%252e`, 404],
    [`/api/at/${mallory}/auth/sessions`, 404],
    [`/api/at/${mallory}/auth/api-keys`, 404],
    [`/api/at/${mallory}/refs`, 404],
    [`/api/at/${mallory}/inbox`, 404],
    [`/api/at/${mallory}/admin/tenants`, 404],
    [`/api/at/${mallory}/settings`, 404],
    [`/api/at/${mallory}/at/one.localhost/files`, 404],
    [`/api/at/one.localhost/at/${mallory}/files`, 404],
    [`/api/at/127.0.0.1/files`, 404],
    [`/api/at/localhost/files`, 404],
    [`/api/at/http:%2f%2f127.0.0.1/files`, 404],
    [`/api/at/${mallory}%2ffiles/files`, 404],
    [`/api/at/${mallory}:8080/files`, 404],
    [`/api/at/user@${mallory}/files`, 404],
  ])('%s is %i, and nobody is asked', async (path, status) => {
    answering((_, answer) => json(answer, 200, envelope([])))
    const before = foreign.requests.length
    expect([await statusOf('GET', path), foreign.requests.length]).toEqual([status, before])
  })

  test('a name of a file with slashes and dots is one segment there', async () => {
    answering((_, answer) => json(answer, 201, { data: {} }))
    const post = (name: string) => statusOf('POST', `/api/at/${mallory}/files/raw/${name}`)
    await post('a%2f..%2fb%3fc')
    expect(foreign.requests.at(-1)?.url).toBe('/api/files/raw/a%2F..%2Fb%3Fc')
    const asked = () => foreign.requests.filter(({ url }) => url.startsWith('/api/files/raw/')).length
    expect([await post('%2e%2e'), asked()]).toEqual([404, 1])
  })
})

describe('Tokens', () => {
  test('one exchange serves an hour; a 401 drops it, and is tried once more', async () => {
    let refusals = 0
    answering((_, answer) => {
      refusals -= 1
      if (refusals >= 0) json(answer, 401, error('E-AUTH-UNAUTH', 'no'))
      else json(answer, 200, envelope([]))
    })
    await Promise.all([at.call(listFiles, {}), at.call(listFiles, {}), at.call(listFiles, {})])
    expect(exchanges).toBe(1)
    refusals = 1
    await at.call(listFiles, {})
    expect(exchanges).toBe(2)
    refusals = 9
    expect(await failure(at.call(listFiles, {}))).toMatchObject({ status: 403, code: 'E-AUTH-FORBIDDEN' })
    expect(refusals).toBe(7)
    refusals = 0
    network.clock.advance(3600_000)
    await at.call(listFiles, {})
    expect(exchanges).toBe(4)
  })

  test.each<[string, (answer: ServerResponse) => void, number]>([
    ['is refused', (answer) => json(answer, 401, error('E-AUTH-UNAUTH', 'no')), 403],
    ['is no token', (answer) => json(answer, 200, { data: { token: 'a\r\nb: c', expiresAt: 1e10 } }), 502],
    ['is a page', (answer) => answer.end('<html>'), 502],
    ['is a redirect', (answer) => answer.writeHead(302, { location: '/' }).end(), 502],
    ['is too much', (answer) => json(answer, 429, error('E-RATELIMIT', 'no')), 503],
  ])('an exchange that %s', async (_, answer, status) => {
    foreign.onRequest = (_request, response) => answer(response)
    expect(await failure(at.call(listFiles, {}))).toMatchObject({ status })
  })

  test('a new session has a token of its own; one that has ended has none', async () => {
    answering((_, answer) => json(answer, 200, envelope([])))
    await at.call(listFiles, {})
    const other = await network.server(0).as(bob.idTag)
    await other.at(mallory).call(listFiles, {})
    expect(exchanges).toBe(2)
    await other.call(logout)
    expect(await failure(other.at(mallory).call(listFiles, {}))).toMatchObject({ status: 401 })
    await at.call(listFiles, {})
    expect(exchanges).toBe(2)
  })
})

describe('Who may', () => {
  beforeEach(() => answering((_, answer) => json(answer, 200, envelope([]))))

  test.each<[string, () => Promise<string | undefined>, number]>([
    ['nobody without a token', async () => undefined, 401],
    [
      'an API key',
      async () => (await bob.client.call(createApiKey, { body: { name: 'key' } })).data.key,
      403,
    ],
    [
      'a narrowed token',
      async () => (await bob.client.call(getAccessToken, { query: { scope: 'admin' } })).data.token,
      403,
    ],
    [
      'an access token minted from a sign-in',
      async () => (await bob.client.call(getAccessToken, {})).data.token,
      200,
    ],
  ])('%s', async (_, tokenOf, status) => {
    const bearer = await tokenOf()
    const before = foreign.requests.length
    const client = network.server(0).client(bob.idTag, bearer).at(mallory)
    const failed = await failure(client.call(listFiles, {}))
    expect(failed?.status ?? 200).toBe(status)
    if (status !== 200) expect(foreign.requests.length).toBe(before)
  })

  test('a visitor of the tenant', async () => {
    const { bob: eve } = await network.cast('bob')
    const bearer = await network
      .server(0)
      .running.features.identity.proxyToken({ ...eve, type: 'person' }, bob.idTag)
    const asEve = network.server(0).client(bob.idTag, bearer)
    expect(await failure(asEve.at(mallory).call(listFiles, {}))).toMatchObject({ status: 403 })
  })

  test('nobody calls whom it blocks, until the block ends', async () => {
    await at.call(listFiles, {})
    const relate = (relationship: 'block' | 'unblock') =>
      bob.client.call(updateRelationship, { params: { idTag: mallory }, body: { relationship } })
    await relate('block')
    const before = foreign.requests.length
    expect(await failure(at.call(listFiles, {}))).toMatchObject({ status: 403, code: 'E-AUTH-FORBIDDEN' })
    expect(foreign.requests.length).toBe(before)
    await relate('unblock')
    await at.call(listFiles, {})
    expect(exchanges).toBe(2)
  })

  test('a blocked domain', async () => {
    await at.call(listFiles, {})
    const admin = await network.server(0).as('one.localhost')
    const params = { domain: mallory }
    await admin.call(blockDomain, { body: params })
    const before = foreign.requests.length
    expect(await failure(at.call(listFiles, {}))).toMatchObject({ status: 404, code: 'E-PROFILE-NOTFOUND' })
    expect(foreign.requests.length).toBe(before)
    await admin.call(unblockDomain, { params })
  })
})

test('an upload passes as a stream', async () => {
  answering((_, answer) => json(answer, 201, { data: { ...file, createdAt: 1 } }))
  const { data } = await at.upload(uploadFile, {
    params: { preset: 'raw', fileName: 'a.txt' },
    body: Buffer.from('hello'),
  })
  expect(data).toEqual({
    fileId,
    status: 'A',
    fileTp: 'BLOB',
    contentType: 'text/plain',
    fileName: 'a.txt',
    tags: [],
    createdAt: 1,
  })
  expect(foreign.requests.at(-1)).toMatchObject({
    method: 'POST',
    body: 'hello',
    url: '/api/files/raw/a.txt',
  })
})

async function raw(path: string, init: RequestInit = {}): Promise<Response> {
  const bearer = await network.server(0).signIn(bob.idTag)
  const headers = { authorization: `Bearer ${bearer}`, ...init.headers }
  return network.server(0).request(bob.idTag, path, { ...init, headers })
}

/** As it stands: `fetch` would resolve dots. */
async function statusOf(method: string, path: string): Promise<number | undefined> {
  const { port } = network.server(0).running
  const headers = { host: bob.idTag, authorization: `Bearer ${await network.server(0).signIn(bob.idTag)}` }
  const [answer] = (await once(request({ port, method, path, headers }).end(), 'response')) as [
    IncomingMessage,
  ]
  answer.resume()
  return answer.statusCode
}
