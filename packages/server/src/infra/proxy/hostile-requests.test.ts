import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ProxiedSite, startProxiedSite, wiki } from '#harness/proxied-site.ts'

let lab: ProxiedSite
let behindProxy: ProxiedSite
beforeAll(async () => {
  lab = await startProxiedSite()
  behindProxy = await startProxiedSite({ trustedProxies: ['127.0.0.0/8'] })
})
afterAll(async () => {
  await lab.close()
  await behindProxy.close()
})

const request = (...lines: string[]) => [...lines, '', ''].join('\r\n')
const get = (...headers: string[]) =>
  request('GET /a?b=c HTTP/1.1', `Host: ${wiki}`, 'Connection: close', ...headers)
const chunked = '5\r\nhello\r\n0\r\n\r\n'

describe('is refused before a backend hears of it', () => {
  const post = (...headers: string[]) => request('POST / HTTP/1.1', `Host: ${wiki}`, ...headers)
  const hostile: Record<string, [raw: string, status: number]> = {
    'length and coding': [post('Content-Length: 5', 'Transfer-Encoding: chunked') + chunked, 400],
    'coding and length': [post('Transfer-Encoding: chunked', 'Content-Length: 5') + chunked, 400],
    'two lengths': [`${post('Content-Length: 5', 'Content-Length: 6')}hello!`, 400],
    'a list of lengths': [`${post('Content-Length: 5, 5')}hello`, 400],
    'a signed length': [`${post('Content-Length: +5')}hello`, 400],
    'a length in hex': [`${post('Content-Length: 0x5')}hello`, 400],
    'a coding that is not the last': [post('Transfer-Encoding: chunked, identity') + chunked, 400],
    'an unknown coding': [post('Transfer-Encoding: xchunked') + chunked, 400],
    'a coding beside chunked': [post('Transfer-Encoding: gzip, chunked') + chunked, 400],
    'chunked twice': [post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked') + chunked, 400],
    'a space before the colon': [post('Transfer-Encoding : chunked') + chunked, 400],
    'a folded header': [post('X-One: 1', ' Transfer-Encoding: chunked') + chunked, 400],
    'a bare line feed': [`GET / HTTP/1.1\nHost: ${wiki}\n\n`, 400],
    'a bare carriage return in a header': [get('X-One: a\rTransfer-Encoding: chunked'), 400],
    'a bad chunk size': [`${post('Transfer-Encoding: chunked')}5g\r\nhello\r\n0\r\n\r\n`, 400],
    'chunks over HTTP/1.0': [
      request('POST / HTTP/1.0', `Host: ${wiki}`, 'Transfer-Encoding: chunked') + chunked,
      400,
    ],
    'two hosts': [get('Host: other.example.org'), 400],
    'OPTIONS of everything': [request('OPTIONS * HTTP/1.1', `Host: ${wiki}`, 'Connection: close'), 400],
    TRACE: [request('TRACE / HTTP/1.1', `Host: ${wiki}`), 405],
    'an unknown expectation': [get('Expect: the-impossible'), 417],
    'headers of more than 16 KiB': [get(`X-Long: ${'a'.repeat(17_000)}`), 431],
  }
  test.each(Object.entries(hostile))('%s', async (_, [raw, status]) => {
    const { answer, request: seen } = await lab.passed(raw)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    // One answer: what follows is no request of its own.
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
    // A chunk that is bad comes after a head that is good.
    if (!raw.includes('5g')) expect(seen).toBeUndefined()
  })
})

describe('a backend is told of the visitor by this server alone', () => {
  const forged = [
    'X-Forwarded-For: 203.0.113.9',
    'x-forwarded-host: bank.example',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Port: 1',
    'X_Forwarded_For: 203.0.113.9',
    'X-Real-IP: 203.0.113.9',
    'Forwarded: for=203.0.113.9',
  ]

  test('whatever a stranger says', async () => {
    const { request: seen } = await lab.passed(get(...forged))
    expect(seen?.headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': wiki,
      'x-forwarded-proto': 'http',
    })
    const names = seen?.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()) ?? []
    for (const name of ['x-real-ip', 'forwarded', 'x-forwarded-port', 'x_forwarded_for'])
      expect(names).not.toContain(name)
    expect(names.filter((name) => name === 'x-forwarded-for')).toHaveLength(1)
  })

  test('and by what a trusted proxy says', async () => {
    const { request: seen } = await behindProxy.passed(
      request(
        'GET / HTTP/1.1',
        'Host: inner',
        'Connection: close',
        'X-Forwarded-For: 198.51.100.1, 203.0.113.9',
        `X-Forwarded-Host: ${wiki}`,
        'X-Forwarded-Proto: https',
      ),
    )
    expect(seen?.headers).toMatchObject({
      host: wiki,
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-host': wiki,
      'x-forwarded-proto': 'https',
    })
  })

  test('with the host as it was asked for, or its own', async () => {
    const asked = request('GET / HTTP/1.1', `Host: ${wiki.toUpperCase()}:8080`, 'Connection: close')
    expect((await lab.passed(asked)).request?.headers.host).toBe(`${wiki}:8080`)
    lab.configure({ preservesHost: false })
    const { request: seen } = await lab.passed(asked)
    expect(seen?.headers.host).toMatch(/^127\.0\.0\.1:\d+$/)
    expect(seen?.headers['x-forwarded-host']).toBe(`${wiki}:8080`)
    lab.configure({})
  })
})

test('headers of the connection stay there, those it lists included', async () => {
  const { request: seen } = await lab.passed(
    request(
      'GET / HTTP/1.1',
      `Host: ${wiki}`,
      'Connection: close, X-Secret, X_Hop, Cookie, X-Forwarded-For, Via',
      'Keep-Alive: timeout=5',
      'TE: trailers',
      'Proxy-Authorization: Basic abc',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
      'X-Secret: 1',
      'X_Hop: 1',
      'Cookie: a=b',
      'X-Kept: one',
      'X-Kept: two',
    ),
  )
  const headers = seen?.headers ?? {}
  expect(headers).toMatchObject({ cookie: 'a=b', 'x-kept': 'one, two', 'x-forwarded-for': '127.0.0.1' })
  expect(headers.via).toMatch(/^1\.1 kith-/)
  for (const name of ['te', 'proxy-authorization', 'upgrade', 'http2-settings', 'x-secret', 'x_hop'])
    expect(headers).not.toHaveProperty(name)
})

test('what a client of HTTP/1.0 expects is not looked at', async () => {
  for (const expected of ['100-continue', 'the-impossible']) {
    const head = request('POST / HTTP/1.0', `Host: ${wiki}`, `Expect: ${expected}`, 'Content-Length: 5')
    const { answer } = await lab.passed(`${head}hello`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*passed$/s)
  }
})

test('the cookie of this server is not passed on, whatever else stands beside it', async () => {
  const asked = async (...cookies: string[]) => {
    const lines = cookies.map((cookie) => `Cookie: ${cookie}`)
    const { request: seen } = await lab.passed(
      request('GET / HTTP/1.1', `Host: ${wiki}`, 'Connection: close', 'X-Empty:', ...lines),
    )
    expect(seen?.headers).toHaveProperty('x-empty', '')
    return seen?.headers.cookie
  }
  expect(await asked('__Host-kith=secret')).toBeUndefined()
  expect(await asked('a=1; __Host-kith=secret;b=2')).toBe('a=1;b=2')
  expect(await asked('kith=secret; kitchen=1', '__host-KITH=secret')).toBe('kitchen=1')
  // A browser sends one without a name like that, and reads it as one with a name when it comes back.
  expect(await asked('=kith=secret; ==__Host-kith=secret; a=1')).toBe('a=1')
})

test('a length that only looks like one is not passed on', async () => {
  const { request: seen } = await lab.passed(get('Content_Length: 9', 'Transfer_Encoding: chunked'))
  expect(seen?.rawHeaders.join(' ')).not.toMatch(/content_length|transfer_encoding/i)
})

test('the own paths of the server are the backend’s, but for the proofs of certificates', async () => {
  for (const path of ['/healthz', '/.well-known/service/id-tag', '/api/me', '/metrics']) {
    const { request: seen } = await lab.passed(
      request(`GET ${path} HTTP/1.1`, `Host: ${wiki}`, 'Connection: close'),
    )
    expect(seen?.url).toBe(path)
  }
  const { request: seen, answer } = await lab.passed(
    request('GET /.well-known/acme-challenge/x HTTP/1.1', `Host: ${wiki}`, 'Connection: close'),
  )
  expect(seen).toBeUndefined()
  expect(answer).toMatch(/^HTTP\/1.1 404 /)
})

test('what goes round in circles ends with 508, sockets too', async () => {
  lab.configure({ origin: `http://127.0.0.1:${lab.site.port}` })
  expect(await lab.site.sendRaw(get())).toMatch(/^HTTP\/1.1 508 /)
  const socket = request(
    'GET / HTTP/1.1',
    `Host: ${wiki}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  )
  expect(await lab.site.sendRaw(socket)).toMatch(/^HTTP\/1.1 508 /)
  lab.configure({})
})

test('a circle through two servers ends with 508', async () => {
  const other = await startProxiedSite()
  lab.configure({ origin: `http://127.0.0.1:${other.site.port}` })
  other.configure({ origin: `http://127.0.0.1:${lab.site.port}` })
  expect(await lab.site.sendRaw(get())).toMatch(/^HTTP\/1.1 508 /)
  lab.configure({})
  await other.close()
})

test('visitors of a proxied host are not counted by the rates of the API', async () => {
  lab.answerWith((_, response) => void response.end('hello'))
  const statuses = async (host: string) => {
    const seen = new Set<number>()
    for (let at = 0; at < 25; at += 1) seen.add((await lab.site.send('/', { headers: { host } })).status)
    return [...seen]
  }
  expect(await statuses(wiki)).toEqual([200])
  expect(await statuses('alice.example')).toContain(429)
  expect(await statuses(wiki)).toEqual([200])
})

test('an upgrade with a body is refused', async () => {
  const smuggling = request(
    'GET / HTTP/1.1',
    `Host: ${wiki}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Content-Length: 5',
  )
  const { answer, request: seen } = await lab.passed(`${smuggling}hello`)
  expect(answer).toMatch(/^HTTP\/1.1 400 /)
  expect(seen).toBeUndefined()
})
