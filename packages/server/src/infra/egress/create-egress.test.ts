import { readFile } from 'node:fs/promises'
import type { RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { type OriginServer, startOrigin } from '#harness/origin-server.ts'
import type { DnsAnswer } from '#infra/dns/index.ts'
import { createEgress, type EgressOptions, gateLimits } from './create-egress.ts'
import { EgressError, type EgressRequest } from './egress.ts'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function origin(...parameters: Parameters<typeof startOrigin>): Promise<OriginServer> {
  const server = await startOrigin(...parameters)
  cleanUps.push(() => server.close())
  return server
}

/** A DNS with fixed addresses; what it was asked is kept. */
function addressBook(book: Readonly<Record<string, DnsAnswer | readonly string[]>> = {}) {
  const asked: string[] = []
  return {
    asked,
    async resolveAddresses(name: string): Promise<DnsAnswer> {
      asked.push(name)
      const entry = book[name]
      if (!entry) return { kind: 'not-found' }
      return 'kind' in entry ? entry : { kind: 'found', records: entry }
    },
  }
}

function egress(options: Partial<EgressOptions> = {}) {
  const client = createEgress({
    privateNetworks: true,
    resolver: addressBook(),
    userAgent: 'Kith/test',
    ...options,
  })
  cleanUps.push(() => client.close())
  return client
}

async function reasonOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof EgressError ? error.reason : `no EgressError: ${error}`
}

test('reads a late body when the connection stands, and sends nothing of one that is called off', async () => {
  const server = await origin((_, answer) => answer.end('thanks'))
  const post = (read: () => Promise<Uint8Array>) =>
    egress().request({ method: 'POST', url: server.url, body: { bytes: 5, read } })
  expect((await post(async () => Buffer.from('Hello'))).status).toBe(200)
  expect(server.requests.map(({ body }) => body)).toEqual(['Hello'])
  await expect(post(() => Promise.reject(new Error('called off')))).rejects.toThrow(EgressError)
  expect(server.requests.map(({ body }) => body)).toEqual(['Hello'])
})

const get = (url: string, more: Partial<EgressRequest> = {}): EgressRequest => ({
  method: 'GET',
  url,
  ...more,
})
const answering =
  (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): RequestListener =>
  (_, answer) =>
    answer.writeHead(status, headers).end(body)

describe('an answer', () => {
  test('has status, joined lower-case headers and body', async () => {
    const server = await origin((_, answer) =>
      answer
        .writeHead(
          418,
          [
            ['X-One', 'a'],
            ['X-One', 'b'],
            ['ETag', '"1"'],
          ].flat(),
        )
        .end('short'),
    )
    const answer = await egress().request(get(`${server.url}/path?q=1#fragment`))
    expect(answer.status).toBe(418)
    expect(answer.headers).toMatchObject({ 'x-one': 'a, b', etag: '"1"' })
    expect(Buffer.from(answer.body).toString()).toBe('short')
    expect(server.requests).toMatchObject([{ method: 'GET', url: '/path?q=1' }])
  })

  test('of a POST comes after its body was sent', async () => {
    const server = await origin(answering(200, 'ok'))
    const headers = { 'content-type': 'application/jwt', authorization: 'Bearer x' }
    await egress().request({ method: 'POST', url: server.url, headers, body: 'token' })
    expect(server.requests[0]).toMatchObject({ method: 'POST', body: 'token' })
    expect(server.requests[0]?.headers).toMatchObject({
      ...headers,
      'user-agent': 'Kith/test',
      'accept-encoding': 'identity',
      'content-length': '5',
    })
  })

  test('of a HEAD has no body, whatever its length says', async () => {
    const server = await origin((_, answer) => answer.writeHead(200, { 'content-length': '99999999' }).end())
    const answer = await egress().request({ method: 'HEAD', url: server.url })
    expect(answer.body.byteLength).toBe(0)
  })

  test('may be larger or smaller than usual when the caller says so', async () => {
    const server = await origin(answering(200, Buffer.alloc(2_000_000)))
    const answer = await egress().request(get(server.url, { maxBytes: 3_000_000 }))
    expect(answer.body.byteLength).toBe(2_000_000)
    expect(await reasonOf(egress().request(get(server.url, { maxBytes: 1000 })))).toBe('too-large')
  })

  test('reuses the connections', async () => {
    const server = await origin(answering(200, 'ok'))
    const client = egress()
    for (let times = 0; times < 10; times += 1) await client.request(get(server.url))
    // A request right behind an answer may find its connection not yet free.
    expect(server.connections()).toBeLessThanOrEqual(2)
  })
})

describe('an address', () => {
  test('is connected to as it was checked: resolved once per connection', async () => {
    const server = await origin(answering(200, 'ok'))
    const answers = [['127.0.0.1'], ['127.0.0.2']]
    const asked: string[] = []
    const resolver = {
      resolveAddresses: async (name: string): Promise<DnsAnswer> => {
        asked.push(name)
        return { kind: 'found', records: answers.shift() ?? [] }
      },
    }
    const answer = await egress({ resolver }).request(get(`http://rebind.example:${server.port}/`))
    expect(answer.status).toBe(200)
    expect(asked).toEqual(['rebind.example'])
    expect(server.requests[0]?.headers.host).toBe(`rebind.example:${server.port}`)
  })

  test('that turns private after a good start is refused', async () => {
    const server = await origin(answering(200, 'inside'))
    const answers = [['8.8.8.8'], ['127.0.0.1']]
    const resolver = {
      resolveAddresses: async (): Promise<DnsAnswer> => ({ kind: 'found', records: answers.shift() ?? [] }),
    }
    const client = egress({ resolver, privateNetworks: false })
    const url = `https://rebind.example:${server.port}/`
    await client.assertReachable(url)
    expect(await reasonOf(client.request(get(url)))).toBe('refused')
    expect(server.connections()).toBe(0)
  })

  test.each([
    ['private', ['10.0.0.1']],
    ['loopback', ['127.0.0.1']],
    ['metadata', ['169.254.169.254']],
    ['mapped', ['::ffff:127.0.0.1']],
    ['NAT64', ['64:ff9b::7f00:1']],
    ['private among public ones', ['8.8.8.8', '10.0.0.1']],
    ['unique local beside a public one', ['8.8.8.8', 'fd00::1']],
    ['no address', ['not an address']],
  ])('behind a public name that is %s is refused', async (_, records) => {
    const client = egress({
      resolver: addressBook({ 'host.example': records }),
      privateNetworks: false,
    })
    const refused = client.request(get('https://host.example/'))
    await expect(refused).rejects.toThrow('host.example is not a public host')
    expect(await reasonOf(refused)).toBe('refused')
    expect(await reasonOf(client.assertReachable('https://host.example/'))).toBe('refused')
  })

  test('written in the URL is refused without asking the DNS', async () => {
    const server = await origin(answering(200))
    const resolver = addressBook()
    const client = egress({ resolver, privateNetworks: false })
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', 'localhost', 'a.localhost']) {
      expect(await reasonOf(client.request(get(`https://${host}:${server.port}/`)))).toBe('refused')
    }
    expect(server.connections()).toBe(0)
    expect(resolver.asked).toEqual([])
  })

  test('of a .localhost name is loopback, whatever the DNS says', async () => {
    const server = await origin(answering(200, 'ok'))
    const resolver = addressBook({ 'alice.localhost': ['10.0.0.1'] })
    const answer = await egress({ resolver }).request(get(`http://alice.localhost:${server.port}/`))
    expect(answer.status).toBe(200)
    expect(resolver.asked).toEqual([])
    expect(server.requests[0]?.headers.host).toBe(`alice.localhost:${server.port}`)
  })

  test('is the next one when the first does not answer', async () => {
    const server = await origin(answering(200, 'ok'))
    const resolver = addressBook({ 'two.example': ['127.0.0.9', '127.0.0.1'] })
    const answer = await egress({ resolver }).request(get(`http://two.example:${server.port}/`))
    expect(answer.status).toBe(200)
  })

  test('that nobody has, and a DNS that is down, are told apart', async () => {
    const down: DnsAnswer = { kind: 'unreachable', cause: new Error('SERVFAIL') }
    const client = egress({ resolver: addressBook({ 'down.example': down }) })
    expect(await reasonOf(client.request(get('https://nobody.example/')))).toBe('unknown-host')
    expect(await reasonOf(client.request(get('https://down.example/')))).toBe('dns')
    expect(await reasonOf(client.assertReachable('https://nobody.example/'))).toBe('unknown-host')
  })

  test('in an allowed range is reached, its neighbour is not', async () => {
    const server = await origin(answering(200, 'ok'))
    const client = egress({ privateNetworks: ['127.0.0.1/32'] })
    expect((await client.request(get(server.url))).status).toBe(200)
    expect(await reasonOf(client.request(get(`http://127.0.0.2:${server.port}/`)))).toBe('refused')
  })

  test('is asked for in plain http only in laboratories', async () => {
    const client = egress({ privateNetworks: false, resolver: addressBook({ 'a.example': ['8.8.8.8'] }) })
    expect(await reasonOf(client.request(get('http://a.example/')))).toBe('refused')
  })
})

describe('a redirect', () => {
  const chain =
    (hops: number): RequestListener =>
    (request, answer) => {
      const at = Number(request.url?.slice(1))
      if (at < hops) answer.writeHead(302, { location: `/${at + 1}` }).end('moved')
      else answer.writeHead(200).end('arrived')
    }

  test('is followed three times', async () => {
    const server = await origin(chain(3))
    const answer = await egress().request(get(`${server.url}/0`))
    expect(Buffer.from(answer.body).toString()).toBe('arrived')
    expect(server.requests.map(({ url }) => url)).toEqual(['/0', '/1', '/2', '/3'])
  })

  test('is not followed a fourth time', async () => {
    const server = await origin(chain(4))
    expect(await reasonOf(egress().request(get(`${server.url}/0`)))).toBe('redirect')
    expect(server.requests.map(({ url }) => url)).toEqual(['/0', '/1', '/2', '/3'])
  })

  test('to itself ends', async () => {
    const server = await origin(answering(301, '', { location: '/' }))
    expect(await reasonOf(egress().request(get(server.url)))).toBe('redirect')
    expect(server.requests.length).toBe(4)
  })

  test.each(['POST', 'PUT', 'DELETE'] as const)('of a %s is not followed', async (method) => {
    const server = await origin(answering(307, '', { location: '/elsewhere' }))
    expect(await reasonOf(egress().request({ method, url: server.url }))).toBe('redirect')
    expect(server.requests.length).toBe(1)
  })

  test.each([undefined, 'http://'])('to %s is none', async (location) => {
    const server = await origin(answering(302, '', location === undefined ? {} : { location }))
    expect(await reasonOf(egress().request(get(server.url)))).toBe('redirect')
  })

  test.each([
    ['a private address', 'http://10.0.0.1/'],
    ['another loopback address', 'http://127.0.0.2/'],
    ['a private address in disguise', 'http://[::ffff:10.0.0.1]/'],
    ['the cloud metadata', 'http://169.254.169.254/latest/meta-data/'],
    ['a name with a private address', 'http://inside.example/'],
    ['a file', 'file:///etc/passwd'],
    ['another scheme', 'gopher://127.0.0.1/'],
    ['a user', 'http://user:password@127.0.0.1/'],
    ['the port of another protocol', 'http://127.0.0.1:25/'],
  ])('to %s is refused', async (_, location) => {
    const server = await origin(answering(302, '', { location }))
    const client = egress({
      privateNetworks: ['127.0.0.1/32'],
      resolver: addressBook({ 'inside.example': ['10.0.0.1'] }),
    })
    expect(await reasonOf(client.request(get(server.url)))).toBe('refused')
  })

  test('to another origin leaves the credentials behind, one to the same origin keeps them', async () => {
    const stranger = await origin(answering(200, 'ok'))
    const server = await origin((request, answer) => {
      const location = request.url === '/first' ? '/second' : `${stranger.url}/`
      answer.writeHead(302, { location }).end()
    })
    const headers = { Authorization: 'Bearer secret', cookie: 'a=b', accept: 'text/plain' }
    await egress().request(get(`${server.url}/first`, { headers }))
    expect(server.requests.map((request) => request.headers.authorization)).toEqual([
      'Bearer secret',
      'Bearer secret',
    ])
    expect(stranger.requests[0]?.headers).toMatchObject({ accept: 'text/plain' })
    expect(stranger.requests[0]?.headers).not.toHaveProperty('authorization')
    expect(stranger.requests[0]?.headers).not.toHaveProperty('cookie')
  })

  test('is part of the time for the whole', async () => {
    const server = await origin((_, answer) => {
      setTimeout(() => answer.writeHead(302, { location: '/' }).end(), 150)
    })
    expect(await reasonOf(egress().request(get(server.url, { timeoutMs: 250 })))).toBe('timeout')
  })
})

describe('a hostile answer', () => {
  test('that is too large by its own word is not read', async () => {
    const server = await origin((_, answer) => {
      answer.writeHead(200, { 'content-length': String(1024 * 1024 + 1) })
      answer.write('x')
    })
    expect(await reasonOf(egress().request(get(server.url)))).toBe('too-large')
  })

  test('without end is cut off', async () => {
    let sent = 0
    const server = await origin((_, answer) => {
      answer.writeHead(200)
      const more = () => {
        while (answer.write(Buffer.alloc(65536))) sent += 65536
        sent += 65536
        answer.once('drain', more)
      }
      more()
    })
    expect(await reasonOf(egress().request(get(server.url)))).toBe('too-large')
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  test('that drips is ended by the time for the whole', async () => {
    const server = await origin((_, answer) => {
      answer.writeHead(200)
      const timer = setInterval(() => answer.write('x'), 20)
      answer.once('close', () => clearInterval(timer))
    })
    expect(await reasonOf(egress().request(get(server.url, { timeoutMs: 200 })))).toBe('timeout')
  })

  test('that never comes is not waited for', async () => {
    const server = await origin(() => {})
    expect(await reasonOf(egress().request(get(server.url, { timeoutMs: 100 })))).toBe('timeout')
  })

  test.each(['gzip', 'br', 'deflate', 'identity, gzip', 'GZIP'])('in %s is refused', async (encoding) => {
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    const server = await origin(answering(200, bomb, { 'content-encoding': encoding }))
    expect(await reasonOf(egress().request(get(server.url)))).toBe('refused')
  })

  test('with a head larger than 16 KB is refused', async () => {
    const server = await origin(answering(200, 'ok', { 'x-large': 'x'.repeat(17_000) }))
    expect(await reasonOf(egress().request(get(server.url)))).toBe('too-large')
  })

  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc'],
    ['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
    ['nothing', ''],
  ])('that is %s is none', async (_, bytes) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(bytes))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanUps.push(() => new Promise((resolve) => server.close(resolve)))
    const { port } = server.address() as { port: number }
    expect(await reasonOf(egress().request(get(`http://127.0.0.1:${port}/`)))).toBe('connect')
  })

  test('does not keep others from theirs', async () => {
    const silent = await origin(() => {})
    const good = await origin(answering(200, 'ok'))
    const client = egress()
    const stuck = Array.from({ length: 40 }, () => client.request(get(silent.url, { timeoutMs: 300 })))
    const reasons = Promise.all(stuck.map(reasonOf))
    expect((await client.request(get(good.url))).status).toBe(200)
    expect(silent.connections()).toBeLessThanOrEqual(16)
    expect(new Set(await reasons)).toEqual(new Set(['timeout']))
  })
})

describe('a request', () => {
  test('to a closed port fails', async () => {
    const server = await origin(answering(200))
    await server.close()
    expect(await reasonOf(egress().request(get(server.url)))).toBe('connect')
  })

  test('is called off by its signal, before and during', async () => {
    const control = new AbortController()
    const server = await origin(() => control.abort())
    const client = egress()
    expect(await reasonOf(client.request(get(server.url, { signal: control.signal })))).toBe('aborted')
    expect(await reasonOf(client.request(get(server.url, { signal: control.signal })))).toBe('aborted')
    expect(server.requests.length).toBe(1)
  })

  test('ends with the client, and none begins afterwards', async () => {
    const client = egress()
    const server = await origin(() => void client.close())
    expect(await reasonOf(client.request(get(server.url)))).toBe('aborted')
    expect(await reasonOf(client.request(get(server.url)))).toBe('aborted')
  })

  test('with a header that would split the message is a bug of the caller', async () => {
    const server = await origin(answering(200))
    const headers = { 'x-bad': 'a\r\nb: c' }
    await expect(egress().request(get(server.url, { headers }))).rejects.not.toBeInstanceOf(EgressError)
    expect(server.requests).toEqual([])
  })
})

describe('a stream', () => {
  test('gives the body as it comes', async () => {
    const server = await origin((_, answer) => {
      answer.writeHead(200).write('one ')
      setImmediate(() => answer.end('two'))
    })
    const { status, body } = await egress().stream(get(server.url))
    expect([status, await text(body)]).toEqual([200, 'one two'])
  })

  test('is cut off after the allowed size', async () => {
    const server = await origin((_, answer) => {
      answer.writeHead(200)
      for (let times = 0; times < 20; times += 1) answer.write(Buffer.alloc(1000))
      answer.end()
    })
    const { body } = await egress().stream(get(server.url, { maxBytes: 5000 }))
    expect(await reasonOf(text(body))).toBe('too-large')
  })

  test('is ended by the time for the whole, and by its signal', async () => {
    const server = await origin((_, answer) => void answer.writeHead(200).write('x'))
    const slow = await egress().stream(get(server.url, { timeoutMs: 100 }))
    expect(await reasonOf(text(slow.body))).toBe('timeout')
    const control = new AbortController()
    const left = await egress().stream(get(server.url, { signal: control.signal }))
    control.abort()
    expect(await reasonOf(text(left.body))).toBe('aborted')
  })

  test('that nobody reads gives its place back', async () => {
    const server = await origin(answering(200, Buffer.alloc(500_000)))
    const client = egress()
    for (let times = 0; times < 20; times += 1) {
      const { body } = await client.stream(get(server.url))
      if (times % 2) body.destroy()
      else body.once('error', () => {}).destroy(new Error('no longer wanted'))
    }
    await Promise.all(
      Array.from({ length: 20 }, () => client.stream(get(server.url, { timeoutMs: 100 })).catch(() => {})),
    )
    expect((await client.request(get(server.url))).status).toBe(200)
  })
})

describe('a head that is asked for alone', () => {
  const post = (url: string, timeoutMs = 5000) => ({ method: 'POST', url, body: 'x', timeoutMs }) as const

  test.each([
    ['a large body', answering(201, 'x'.repeat(2_000_000))],
    ['a compressed body', answering(201, gzipSync('x'), { 'content-encoding': 'gzip' })],
    ['a body without end', (_: unknown, answer: ServerResponse) => void answer.writeHead(201).write('x')],
  ] as const)('is the answer before %s', async (_, listener) => {
    const server = await origin(listener)
    const client = egress()
    // More than may be under way at once: none stays behind.
    for (let times = 0; times < 20; times += 1)
      expect(await client.requestHead(post(server.url))).toMatchObject({ status: 201 })
  })

  test('is the answer where a redirect would lead on', async () => {
    const server = await origin(answering(307, '', { location: '/elsewhere' }))
    const answer = await egress().requestHead(post(server.url))
    expect(answer).toEqual({ status: 307, headers: expect.objectContaining({ location: '/elsewhere' }) })
    expect(server.requests).toMatchObject([{ method: 'POST', body: 'x' }])
  })

  test('leaves the connection to the next request when all has come', async () => {
    const server = await origin(answering(201, 'thanks'))
    const client = egress()
    for (let times = 0; times < 10; times += 1) await client.requestHead(post(server.url))
    expect(server.connections()).toBeLessThanOrEqual(2)
  })

  test('is not waited for longer than allowed, must not be larger, and comes from no refused address', async () => {
    const silent = await origin(() => {})
    expect(await reasonOf(egress().requestHead(post(silent.url, 100)))).toBe('timeout')
    const large = await origin(answering(201, '', { 'x-large': 'x'.repeat(17_000) }))
    expect(await reasonOf(egress().requestHead(post(large.url)))).toBe('too-large')
    const strict = egress({ privateNetworks: false })
    expect(await reasonOf(strict.requestHead(post('https://127.0.0.1/')))).toBe('refused')
    const client = egress()
    await client.close()
    expect(await reasonOf(client.requestHead(post(large.url)))).toBe('aborted')
  })
})

test('takes as many requests at a time as the page for operators says', async () => {
  const page = await readFile(
    new URL('../../../../../docs/operations/outbound-requests.md', import.meta.url),
    'utf8',
  )
  const { total, perKey, waiting, waitingPerKey } = gateLimits
  expect(page).toContain(
    `| Number | ${total} requests under way, ${perKey} to one origin; ${waiting} wait, ${waitingPerKey} for one origin |`,
  )
})
