import { allContracts, openApiDocument } from '@kith/protocol'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { httpSites } from '#harness/http-site.ts'
import { documentationRoutes } from './documentation.ts'

const serving = httpSites()

const rawRoutes = documentationRoutes({ contracts: allContracts, title: 'Kith <test>', version: '1.2.3' })

describe('the documentation', () => {
  test('is a valid OpenAPI document with an entity tag, on every host', async () => {
    const { send } = await serving([], { rawRoutes })
    const { status, json, headers } = await send('/api/openapi.json', {
      headers: { host: 'unknown.example' },
    })
    expect(status).toBe(200)
    expect(json).toEqual(
      JSON.parse(
        JSON.stringify(
          openApiDocument(allContracts, { title: 'Kith <test>', version: '1.2.3', serverUrl: '/' }),
        ),
      ),
    )
    expect((await new Validator().validate(json)).valid).toBe(true)
    const etag = String(headers.etag)
    const again = await send('/api/openapi.json', { headers: { 'if-none-match': etag } })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag])
    const head = await send('/api/openapi.json', { method: 'HEAD' })
    expect([head.status, head.text, head.headers.etag]).toEqual([200, '', etag])
  })

  test.each([
    ['gzip, deflate, br', 'gzip'],
    ['br;q=1, GZIP;q=0.5', 'gzip'],
    ['gzip;q=0', undefined],
    ['br', undefined],
  ])('is compressed for who takes it: %s', async (accepted, encoding) => {
    const { send } = await serving([], { rawRoutes })
    const { headers } = await send('/api/openapi.json', {
      method: 'HEAD',
      headers: { 'accept-encoding': accepted },
    })
    expect([headers['content-encoding'], headers.vary]).toEqual([encoding, 'accept-encoding'])
    expect(Number(headers['content-length']) < 200_000).toBe(encoding === 'gzip')
  })

  test('counts for the address that asks', async () => {
    const { send } = await serving([], { rawRoutes })
    for (const path of ['/api/openapi.json', '/api/docs'])
      expect((await send(path, { method: 'HEAD' })).headers).toHaveProperty('x-ratelimit-remaining')
  })

  test('is a page that loads nothing from elsewhere and nothing inline', async () => {
    const { send } = await serving([], { rawRoutes })
    const { status, text, headers } = await send('/api/docs')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toMatch(/https?:|\*/)
    expect(text).not.toMatch(/https?:|<script>|<test>/)
    const assets = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '')
    expect(assets.length).toBeGreaterThan(3)
    for (const path of assets) {
      const asset = await send(path)
      expect([path, asset.status, asset.text.length > 100]).toEqual([path, 200, true])
      expect(asset.headers['x-content-type-options']).toBe('nosniff')
    }
  })

  test('serves no other files', async () => {
    const { send } = await serving([], { rawRoutes })
    for (const name of ['index.html', '..%2fpackage.json', 'x', '%2e%2e', 'constructor', '__proto__']) {
      expect((await send(`/api/docs/${name}`)).status, name).toBe(404)
    }
  })
})

describe('raw routes', () => {
  test('answer on every host, without envelope and rate limit', async () => {
    const health = {
      method: 'GET',
      path: '/healthz',
      handle: () => ({ status: 200, headers: { 'content-type': 'text/plain' }, body: 'ok' }),
    } as const
    const { send } = await serving([], { rawRoutes: [health] })
    const { status, text, headers } = await send('/healthz', { headers: { host: 'whatever' } })
    expect([status, text]).toEqual([200, 'ok'])
    expect(headers).not.toHaveProperty('x-ratelimit-limit')
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'content-length': '2' })
    expect((await send('/healthz', { method: 'POST' })).headers.allow).toBe('GET, HEAD')
  })

  test('see the peer and the parameters', async () => {
    const raw = {
      method: 'POST',
      path: '/raw/{name}',
      handle: ({ peer, params }) => ({ status: 200, body: JSON.stringify({ ...peer, ...params }) }),
    } as const satisfies (typeof rawRoutes)[number]
    const { send } = await serving([], { rawRoutes: [raw] })
    const { text } = await send('/raw/a%20b', { method: 'POST' })
    expect(JSON.parse(text)).toEqual({ ip: '127.0.0.1', host: 'alice.example', isSecure: false, name: 'a b' })
  })

  test('that fail are a 500 and a line in the log', async () => {
    const broken = {
      method: 'GET',
      path: '/broken',
      handle: () => Promise.reject(new Error('secret')),
    } as const
    const { send, logged } = await serving([], { rawRoutes: [broken] })
    const { status, text } = await send('/broken')
    expect(status).toBe(500)
    expect(text).not.toContain('secret')
    expect(logged).toHaveLength(1)
  })
})
