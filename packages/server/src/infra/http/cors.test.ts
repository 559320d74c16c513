import { contract } from '@kith/protocol'
import Type from 'typebox'
import { afterEach, describe, expect, test } from 'vitest'
import { type HttpSite, startHttpSite } from '#harness/http-site.ts'
import type { CorsOrigins } from './cors.ts'
import { bind } from './endpoint.ts'

let site: HttpSite | undefined
afterEach(async () => {
  await site?.close()
  site = undefined
})

const thing = contract({
  name: 'postThing',
  method: 'POST',
  path: '/api/thing',
  tag: 'Things',
  summary: 'Post',
  auth: 'none',
  reply: { kind: 'data', status: 200, schema: Type.String() },
  errors: [],
})

async function serving(cors: CorsOrigins): Promise<HttpSite> {
  site = await startHttpSite([bind(thing, async () => 'done')], { cors })
  return site
}

const app = 'https://app.example'
const preflight = {
  method: 'OPTIONS',
  headers: {
    origin: app,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,x-qr-secret',
  },
}

describe('a page of an allowed origin', () => {
  test('may read answers, errors too, and the headers that matter', async () => {
    const { send } = await serving([app])
    for (const path of ['/api/thing', '/nowhere']) {
      const { headers } = await send(path, { method: 'POST', headers: { origin: app } })
      expect(headers).toMatchObject({
        'access-control-allow-origin': app,
        'access-control-allow-credentials': 'true',
        vary: 'Origin',
      })
      for (const name of [
        'X-Request-Id',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
        'Retry-After',
      ]) {
        expect(headers['access-control-expose-headers']).toContain(name)
      }
    }
  })

  test('gets a preflight on every path, with the headers it asks for', async () => {
    const { send } = await serving([app])
    for (const path of ['/api/thing', '/api/thing/else?x=1', '/nowhere']) {
      const { status, text, headers } = await send(path, preflight)
      expect([status, text]).toEqual([204, ''])
      expect(headers).toMatchObject({
        'access-control-allow-origin': app,
        'access-control-allow-headers': 'authorization,content-type,x-qr-secret',
        'access-control-max-age': '7200',
      })
      expect(headers['access-control-allow-methods']).toBe('GET, HEAD, POST, PUT, PATCH, DELETE')
    }
  })
})

describe('a page of another origin', () => {
  test.each([
    'https://evil.example',
    'http://app.example',
    'https://app.example.evil.example',
    'null',
    'https://APP.example',
  ])('may not: %s', async (origin) => {
    const { send } = await serving([app])
    const answers = [
      await send('/api/thing', { method: 'POST', headers: { origin } }),
      await send('/api/thing', { ...preflight, headers: { ...preflight.headers, origin } }),
    ]
    for (const { headers } of answers) {
      expect(headers).not.toHaveProperty('access-control-allow-origin')
      expect(headers).not.toHaveProperty('access-control-allow-credentials')
      expect(headers.vary).toBe('Origin')
    }
  })

  test('may in development', async () => {
    const { send } = await serving('*')
    const { headers } = await send('/api/thing', {
      method: 'POST',
      headers: { origin: 'http://localhost:5173' },
    })
    expect(headers['access-control-allow-origin']).toBe('http://localhost:5173')
  })
})

describe('OPTIONS', () => {
  test('without CORS tells the methods of a path', async () => {
    const { send } = await serving([])
    const { status, headers } = await send('/api/thing', preflight)
    expect([status, headers.allow]).toEqual([204, 'POST, OPTIONS'])
    expect(headers).not.toHaveProperty('access-control-allow-methods')
    expect((await send('/nowhere', { method: 'OPTIONS' })).status).toBe(404)
    expect((await send('*', { method: 'OPTIONS' })).status).toBe(204)
  })
})
