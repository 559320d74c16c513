import { expect, onTestFinished, test } from 'vitest'
import { idTag, startHttpSite } from '#harness/http-site.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { pageRoutes } from './index.ts'

const alice: Tenant = { tenantId: 1 as TenantId, idTag: idTag('alice.example'), type: 'person' }
const bob: Tenant = { tenantId: 3 as TenantId, idTag: idTag('bob.example'), type: 'person' }
const club: Tenant = { tenantId: 2 as TenantId, idTag: idTag('club.example'), type: 'community' }

async function startSite(policy: 'open' | 'invite' = 'invite') {
  const rawRoutes = pageRoutes({
    findTenant: async (host) => [alice, bob, club].find((tenant) => tenant.idTag === host),
    findRegistration: async (tenant) => (tenant === alice ? policy : undefined),
    isProvider: async (tenant) => tenant !== bob,
  })
  const site = await startHttpSite([], { rawRoutes })
  onTestFinished(() => site.close())
  return site
}

const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const paths = [
  '/',
  '/login',
  '/set-password',
  '/register',
  '/activate',
  '/communities/new',
  '/shared/0123456789ABCDEFabcdefgh',
]

test.each(paths)('%s is a page without anything inline', async (path) => {
  const site = await startSite()
  const { status, headers, text } = await site.send(path)
  expect(status).toBe(200)
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': contentPolicy,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Language',
  })
  expect(text).toContain('data-id-tag="alice.example"')
  expect(text).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/)
})

test('everything that the pages and their scripts name is served', async () => {
  const site = await startSite()
  const pages = await Promise.all(paths.map((path) => site.send(path)))
  const waiting = pages.flatMap(({ text }) =>
    Array.from(text.matchAll(/"(\/assets\/[^"]+)"/g), ([, path = '']) => path),
  )
  const seen = new Set<string>()
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    const { status, headers, text } = await site.send(path)
    expect({ path, status }).toEqual({ path, status: 200 })
    expect(headers['content-type']).toMatch(path.endsWith('.css') ? /^text\/css/ : /^text\/javascript/)
    for (const [, name = ''] of text.matchAll(/from '\.\/([^']+)'/g)) waiting.push(`/assets/${name}`)
  }
  expect(seen).toContain('/assets/qr.js')
})

test('pages and assets are not sent again to whoever has them', async () => {
  const site = await startSite()
  for (const path of ['/login', '/assets/login.js']) {
    const { headers } = await site.send(path)
    const again = await site.send(path, { headers: { 'if-none-match': headers.etag ?? '' } })
    expect(again).toMatchObject({ status: 304, text: '' })
  }
})

test.each([
  [undefined, 'en'],
  ['de', 'de'],
  ['de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['fr, en;q=0.7, de;q=0.9', 'de'],
  ['de;q=0, en', 'en'],
  ['en-GB, de', 'en'],
  ['fr', 'en'],
  [`${'x,'.repeat(5000)}de`, 'en'],
  [';;;q=q=,', 'en'],
])('accepting %s the page speaks %s', async (accepted, language) => {
  const site = await startSite()
  const headers = accepted === undefined ? {} : { 'accept-language': accepted }
  const answer = await site.send('/login', { headers })
  expect(answer.headers['content-language']).toBe(language)
  expect(answer.text).toContain(`<html lang="${language}">`)
})

test('a community has a page that says so, and nothing to sign in with', async () => {
  const site = await startSite()
  const headers = { host: 'club.example' }
  expect((await site.send('/', { headers })).text).toContain('This address belongs to a community.')
  expect((await site.send('/login', { headers })).status).toBe(404)
  expect((await site.send('/set-password', { headers })).status).toBe(404)
  expect((await site.send('/register', { headers })).status).toBe(404)
})

test('what a link shares is shown on the host of a person or a community, whoever comes', async () => {
  const site = await startSite()
  for (const host of ['bob.example', 'club.example']) {
    const answer = await site.send('/shared/0123456789ABCDEFabcdefgh', { headers: { host } })
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('<button type="button" id="open">Show it</button>')
  }
})

test('people register on the host that the server has for it, and find the way where all may', async () => {
  const site = await startSite('open')
  expect((await site.send('/register')).text).toContain('data-registration="open"')
  expect((await site.send('/login')).text).toContain('<a href="/register">')
  const elsewhere = { headers: { host: 'bob.example' } }
  expect((await site.send('/register', elsewhere)).status).toBe(404)
  expect((await site.send('/login', elsewhere)).text).not.toContain('href="/register"')
  const invited = await startSite('invite')
  expect((await invited.send('/register')).text).toContain('data-registration="invite"')
  expect((await invited.send('/login')).text).not.toContain('href="/register"')
})

test('a name is activated on the host of a provider, also of a community, and on no other', async () => {
  const site = await startSite()
  for (const host of ['alice.example', 'club.example']) {
    const answer = await site.send('/activate', { headers: { host } })
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('<button type="submit">Activate it</button>')
  }
  expect((await site.send('/activate', { headers: { host: 'bob.example' } })).status).toBe(404)
})

test('on the host of nobody there is nobody, and a host that is no name is refused', async () => {
  const site = await startSite()
  expect((await site.send('/', { headers: { host: 'nobody.example.com' } })).status).toBe(404)
  const answer = await site.send('/', { headers: { host: '"><script>' } })
  expect(answer.status).toBe(400)
  expect(answer.text).not.toContain('<script')
})

test.each([
  '/assets/absent.js',
  '/assets/page-routes.ts',
  '/assets/..%2Findex.ts',
  '/assets/%2e%2e%2findex.ts',
])('there is no asset %s', async (path) => {
  const site = await startSite()
  expect((await site.send(path)).status).toBe(404)
})
