import { getProxyToken } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

let server: TestServer
let alice: string
beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant('alice.localhost', { name: 'Alice' })
  await server.createTenant('bob.localhost', { name: 'Bob' })
  alice = await server.signIn('alice.localhost')
})
afterAll(() => server.stop())

type Body = { readonly data?: Record<string, unknown>; readonly error?: { readonly code: string } }

async function send(method: string, path: string, token?: string, body?: unknown) {
  const response = await server.request('alice.localhost', path, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { data, error } = (await response.json()) as Body
  return { status: response.status, data, code: error?.code }
}

describe('GET /api/me', () => {
  test('is public for guests, bad bearers and visitors, whole for the owner', async () => {
    const proxy = await server
      .client('bob.localhost', await server.signIn('bob.localhost'))
      .call(getProxyToken, {
        query: { target: 'alice.localhost' },
      })
    for (const token of [undefined, 'rubbish', proxy.data.token]) {
      const { status, data } = await send('GET', '/api/me', token)
      expect(status).toBe(200)
      expect(data).toMatchObject({
        idTag: 'alice.localhost',
        name: 'Alice',
        publicKey: expect.stringContaining('BEGIN PUBLIC KEY'),
        serverInfo: { version: expect.any(String), features: expect.any(Array) },
      })
      for (const own of ['tnId', 'roles', 'x', 'status']) expect(data).not.toHaveProperty(own)
    }
    for (const path of ['/api/me', '/api/me/full'])
      expect((await send('GET', path, alice)).data).toMatchObject({
        tnId: expect.any(Number),
        publicKey: expect.any(String),
        roles: ['user'],
        status: 'Active',
      })
  })

  test('changes by its owner alone', async () => {
    const { status, data } = await send('PATCH', '/api/me', alice, {
      x: { bio: 'Gardener' },
      name: 'Alice B.',
    })
    expect([status, data?.name, data?.x]).toEqual([200, 'Alice B.', { bio: 'Gardener' }])
    expect(await send('PATCH', '/api/me', undefined, { name: 'Eve' })).toMatchObject({ status: 401 })
    expect(await send('PATCH', '/api/me', alice, { name: '' })).toMatchObject({
      status: 400,
      code: 'E-VALIDATION',
    })
  })
})

describe('the identity document', () => {
  test('is kept for five minutes, and not sent again to whoever has it', async () => {
    const path = '/.well-known/service/id-tag?idTag=Bob.localhost'
    const first = await server.request('alice.localhost', path)
    expect(first.headers.get('cache-control')).toBe('public, max-age=300')
    const { data } = (await first.json()) as Body
    expect(data).toMatchObject({ idTag: 'bob.localhost', name: 'Bob', keys: [{ kid: expect.any(String) }] })
    const etag = first.headers.get('etag') ?? ''
    const again = await server.request('alice.localhost', path, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })
})

describe('relationships', () => {
  test('are changed and listed by the tenant', async () => {
    const change = (relationship: string) =>
      send('PATCH', '/api/profiles/bob.localhost', alice, { relationship })
    expect((await change('follow')).data).toEqual({
      idTag: 'bob.localhost',
      relationship: 'following',
      updatedAt: expect.stringMatching(/Z$/),
    })
    await server.settle()
    const bob = await server.as('bob.localhost')
    expect(bob).toBeDefined()
    const { data } = await send('GET', '/api/profiles?following=true', alice)
    expect(data).toMatchObject([
      { idTag: 'bob.localhost', name: 'Bob', following: true, relationship: 'following' },
    ])
    expect((await send('GET', '/api/profiles/bob.localhost')).data).not.toHaveProperty('following')
    expect((await change('mute')).data).toMatchObject({ relationship: 'muted' })
    expect((await change('adore')).code).toBe('E-VALIDATION')
    const nobody = await send('PATCH', '/api/profiles/nobody.localhost', alice, { relationship: 'follow' })
    expect(nobody).toMatchObject({ status: 404, code: 'E-PROFILE-NOTFOUND' })
  })
})
