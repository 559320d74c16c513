import type { ServerResponse } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FakeAuthority, problem } from '#harness/fake-authority.ts'
import { type OriginServer, startOrigin } from '#harness/origin-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { createEgress, type EgressAnswer, type EgressRequest } from '#infra/egress/index.ts'
import { AcmeClient } from './acme-client.ts'
import { acmeLibrary } from './acme-library.ts'
import { certificateRequest, newPrivateKey } from './x509.ts'

const name = 'alice.example.org'
const clock = new TestClock()

/** A client that has its account already, as one of a process that was just started. */
async function clientOf(
  authority: Pick<FakeAuthority, 'request'> & { readonly directoryUrl: string },
  accountUrl: string | undefined = new URL('/account/1', authority.directoryUrl).href,
  accountKey?: string,
) {
  return await AcmeClient.open({
    egress: authority,
    clock,
    directoryUrl: authority.directoryUrl,
    accountKey: accountKey ?? (await newPrivateKey()),
    accountUrl,
  })
}

/** Gets a certificate by an order's address. */
async function issue(client: AcmeClient, url: string): Promise<string> {
  const order = await client.order(url)
  const challenge = (await client.authorization(order.authorizations[0] ?? '')).challenge('http-01')
  if (challenge) await client.accept(challenge)
  const csr = await certificateRequest(name, await newPrivateKey())
  const { certificate = '' } = await client.finalize(order, csr)
  return await client.certificate(certificate)
}

const asked = ({ asked }: FakeAuthority, what: string) => asked.filter((one) => one === what).length

describe('an account with an authority', () => {
  test('asks once for the directory and for a nonce, and takes the others from the answers', async () => {
    const authority = new FakeAuthority(clock)
    const client = await clientOf(authority)
    const { url } = await client.newOrder(name)
    expect(await issue(client, url)).toContain('BEGIN CERTIFICATE')
    expect([asked(authority, 'GET /dir'), asked(authority, 'HEAD /nonce')]).toEqual([1, 1])
  })

  test('goes on with an order that it knows by its address alone', async () => {
    const authority = new FakeAuthority(clock)
    const key = await newPrivateKey()
    const { url } = await (await clientOf(authority, undefined, key)).newOrder(name)
    expect(await issue(await clientOf(authority, undefined, key), url)).toContain('BEGIN CERTIFICATE')
    expect([authority.orders.length, authority.accounts]).toEqual([1, 0])
  })

  test('tells two authorities apart that are asked at the same time', async () => {
    const authorities = Array.from({ length: 5 }, () => new FakeAuthority(clock))
    await Promise.all(authorities.map(async (one) => (await clientOf(one)).newOrder(name)))
    for (const { orders, asked } of authorities) expect([orders.length, asked.length]).toEqual([1, 3])
  })

  test.each<[string, EgressAnswer, object]>([
    [
      'a rate limit',
      problem('rateLimited', 'too many', { 'retry-after': '3600' }),
      { type: 'rateLimited', message: 'too many', retryAtMs: clock.now() + 3_600_000 },
    ],
    ['a refusal', problem('caa', 'CAA forbids it'), { type: 'caa', message: 'CAA forbids it' }],
    [
      'a failure without words',
      { status: 503, headers: { 'retry-after': '60' }, body: Buffer.from('<html>') },
      { type: 'serverInternal', retryAtMs: clock.now() + 60_000 },
    ],
    [
      'one that sums others up',
      problemOf({
        type: 'urn:ietf:params:acme:error:compound',
        detail: 'several',
        subproblems: [{ type: 'urn:ietf:params:acme:error:dns', detail: 'no such name' }],
      }),
      { type: 'dns', message: 'no such name' },
    ],
  ])('is told of %s as it was answered, and does not ask again', async (_, answer, told) => {
    const authority = new FakeAuthority(clock)
    authority.answer = (path) => (path === '/new-order' ? answer : undefined)
    const client = await clientOf(authority)
    await expect(client.newOrder(name)).rejects.toMatchObject({ name: 'AcmeError', ...told })
    expect(asked(authority, 'POST /new-order')).toBe(1)
  })

  test('tries again with another nonce, but not without end', async () => {
    const authority = new FakeAuthority(clock)
    let refusals = 5
    authority.answer = (path) => {
      if (path !== '/new-order' || refusals === 0) return undefined
      refusals -= 1
      return problem('badNonce', 'an old nonce', { 'replay-nonce': 'fresh' })
    }
    const client = await clientOf(authority)
    await client.newOrder(name)
    expect(authority.orders).toHaveLength(1)
    refusals = 1000
    await expect(client.newOrder(name)).rejects.toMatchObject({ type: 'badNonce' })
    expect(1000 - refusals).toBe(12)
  })

  test('is not made again and again where its address is not named', async () => {
    const authority = new FakeAuthority(clock)
    authority.answer = (path) => (path === '/account' ? problemOf({ status: 'valid' }, 200) : undefined)
    const client = await clientOf(authority)
    await expect(client.register(undefined)).rejects.toMatchObject({ type: 'malformedAnswer' })
    expect(asked(authority, 'POST /account')).toBeLessThan(20)
  })

  test('shows neither its key nor a proof in the notes of the library', async () => {
    const authority = new FakeAuthority(clock)
    const notes: string[] = []
    const library = await acmeLibrary()
    library.setLogger((note) => notes.push(note))
    onTestFinished(() => library.setLogger(() => undefined))
    const key = await newPrivateKey()
    const client = await clientOf(authority, undefined, key)
    await client.register('admin@example.org')
    const { url } = await client.newOrder(name)
    await issue(client, url)
    authority.answer = () => problem('malformed', 'no')
    await expect(client.order(url)).rejects.toThrow('no')
    expect(notes.length).toBeGreaterThan(10)
    const secrets = ['PRIVATE', 'token-of-order', 'admin@', ...key.split('\n').filter((line) => line !== '')]
    for (const secret of secrets) expect(notes.join('\n')).not.toContain(secret)
  })
})

describe('what an authority names', () => {
  /** An authority on this machine, behind the real HTTP client; only 127.0.0.1 may be reached. */
  async function hostile(answer: (path: string, response: ServerResponse, own: OriginServer) => void) {
    const origin: OriginServer = await startOrigin(({ url = '', method }, response) => {
      response.setHeader('content-type', 'application/json').setHeader('replay-nonce', 'nonce')
      const places = { newNonce: '/nonce', newAccount: '/account', newOrder: '/new-order' }
      const directory = Object.fromEntries(
        Object.entries(places).map(([place, path]) => [place, origin.url + path]),
      )
      if (method === 'HEAD') response.end()
      else answer(url, response, origin)
      if (!response.headersSent && url === '/dir') response.end(JSON.stringify(directory))
    })
    onTestFinished(() => origin.close())
    const resolver = { resolveAddresses: () => Promise.reject(new Error('no name is asked for')) }
    const egress = createEgress({ privateNetworks: ['127.0.0.1/32'], resolver, userAgent: 'Kith/test' })
    onTestFinished(() => egress.close())
    const seen: EgressRequest[] = []
    const request = (one: EgressRequest) => {
      seen.push(one)
      return egress.request(one)
    }
    return { origin, seen, client: await clientOf({ request, directoryUrl: `${origin.url}/dir` }) }
  }
  const pathsOf = ({ requests }: OriginServer) => requests.map(({ method, url }) => `${method} ${url}`)

  test('is not asked at an address that is not allowed', async () => {
    const private_ = await startOrigin((_, response) => response.end(), { host: '127.0.0.2' })
    onTestFinished(() => private_.close())
    const { client } = await hostile((path, response, { url }) => {
      const places = { newNonce: `${url}/nonce`, newAccount: private_.url, newOrder: private_.url }
      if (path === '/dir') response.end(JSON.stringify(places))
    })
    await expect(client.newOrder(name)).rejects.toMatchObject({
      type: 'unreachable',
      message: expect.stringMatching(/refused/),
    })
    expect(private_.connections()).toBe(0)
  })

  test('is not followed to another place', async () => {
    const { client, origin } = await hostile((path, response, { url }) => {
      if (path === '/new-order') response.writeHead(307, { location: `${url}/elsewhere` }).end()
    })
    await expect(client.newOrder(name)).rejects.toMatchObject({
      type: 'unreachable',
      message: expect.stringMatching(/redirect/),
    })
    expect(pathsOf(origin)).toEqual(['GET /dir', 'HEAD /nonce', 'POST /new-order'])
  })

  test('is read up to a bound, within a time', async () => {
    const { client, seen } = await hostile((path, response) => {
      if (path === '/new-order') response.writeHead(201).end(Buffer.alloc(300 * 1024, 32))
    })
    await expect(client.newOrder(name)).rejects.toMatchObject({
      type: 'malformedAnswer',
      message: expect.stringMatching(/too-large/),
    })
    expect(seen).toHaveLength(3)
    for (const one of seen) expect(one).toMatchObject({ timeoutMs: 30_000, maxBytes: 256 * 1024 })
  })

  test.each(['[]', 'null', '"text"', '{"status":1}', '<html>', ''])('may be %j', async (body) => {
    const { client, origin } = await hostile((path, response, { url }) => {
      const status = path === '/new-order' ? 201 : 200
      if (path !== '/dir') response.writeHead(status, { location: `${url}/order` }).end(body)
    })
    const malformed = { name: 'AcmeError', type: 'malformedAnswer' }
    for (const ask of [
      () => client.newOrder(name),
      () => client.order(`${origin.url}/order`),
      () => client.authorization(`${origin.url}/authorization`),
      () => client.certificate(`${origin.url}/certificate`),
    ])
      await expect(ask()).rejects.toMatchObject(malformed)
  })
})

function problemOf(body: object, status = 400): EgressAnswer {
  const headers = { 'content-type': 'application/problem+json', 'replay-nonce': 'nonce' }
  return { status, headers, body: Buffer.from(JSON.stringify(body)) }
}
