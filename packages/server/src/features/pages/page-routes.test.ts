import { describe, expect, onTestFinished, test } from 'vitest'
import { idTag, startHttpSite } from '#harness/http-site.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { absentPage, type PublicContent, pageRoutes } from './index.ts'

const alice: Tenant = { tenantId: 1 as TenantId, idTag: idTag('alice.example'), type: 'person' }
const bob: Tenant = { tenantId: 3 as TenantId, idTag: idTag('bob.example'), type: 'person' }
const club: Tenant = { tenantId: 2 as TenantId, idTag: idTag('club.example'), type: 'community' }

const dora = { ...bob, idTag: idTag('dora.example'), suspendedAt: 1 }

const nothingPublic: PublicContent = {
  findOwner: async (tenant) => ({ ...tenant, name: 'Name', bio: undefined, pictureId: undefined }),
  listPosts: async () => ({ posts: [], nextCursor: null }),
  findPost: async () => undefined,
  listPictures: async () => new Map(),
}

async function startSite(policy: 'open' | 'invite' = 'invite', content: Partial<PublicContent> = {}) {
  const rawRoutes = pageRoutes({
    serverUrlOf: (tenant) => `https://${tenant.idTag}`,
    findServer: async (visitor) => (visitor === bob.idTag ? 'https://bob.example:8443' : undefined),
    content: { ...nothingPublic, ...content },
    findTenant: async (host) => [alice, bob, club, dora].find((tenant) => tenant.idTag === host),
    areMailsKept: async () => false,
    findOpenRegistration: async () => undefined,
    findRegistration: async (tenant) => (tenant === alice ? policy : undefined),
    findCommunityCreation: async () => policy,
    isProvider: async (tenant) => tenant !== bob,
    emailLinks: {
      look: async () => ({ kind: 'unknown' }),
      confirm: async () => ({ email: '', signedOut: false }),
    },
  })
  const site = await startHttpSite([], { rawRoutes, absentPage })
  onTestFinished(() => site.close())
  return site
}

const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const paths = [
  '/account',
  '/approve',
  '/login',
  '/set-password',
  '/register',
  '/activate',
  '/communities/new',
  '/shared',
  '/apps',
]
const appPath = '/apps/alice.example/To-do%20list'

test.each(paths)('%s is a page without anything inline', async (path) => {
  const site = await startSite()
  const { status, headers, text } = await site.send(path)
  expect(status).toBe(200)
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': path === '/shared' ? `${contentPolicy}; media-src 'self'` : contentPolicy,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Language',
  })
  expect(text).toContain('data-id-tag="alice.example"')
  expect(text).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/)
})

test('the page of an app shows frames of its own origin alone, and reaches no other', async () => {
  const { status, headers, text } = await (await startSite()).send(appPath)
  expect(status).toBe(200)
  expect(headers['content-security-policy']).toBe(`${contentPolicy}; frame-src 'self'`)
  expect(text).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/)
})

test('everything that the pages and their scripts name is served', async () => {
  const site = await startSite()
  const pages = await Promise.all(['/', ...paths, appPath].map((path) => site.send(path)))
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
    for (const [, name = ''] of text.matchAll(/(?:from |import\()'(\.[^']+)'/g))
      waiting.push(new URL(name, `http://alice.example${path}`).pathname)
  }
  expect(seen).toContain('/assets/qr.js')
  expect(seen).toContain('/assets/app/messages/shape.ts')
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

test('a community has a public page that says so, and nothing to sign in with', async () => {
  const site = await startSite()
  const headers = { host: 'club.example' }
  const { text } = await site.send('/', { headers })
  expect(text).toContain('This address belongs to a community.')
  expect(text).not.toContain('href="/login"')
  for (const path of ['/login', '/account', '/approve', '/set-password', '/register'])
    expect((await site.send(path, { headers })).status).toBe(404)
})

test('what a link shares is shown on the host of a person or a community, whoever comes', async () => {
  const site = await startSite()
  for (const host of ['bob.example', 'club.example']) {
    const answer = await site.send('/shared', { headers: { host } })
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

describe('an address with nothing to show', () => {
  const html = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }
  const post = `/posts/a1~${'A'.repeat(43)}`

  test('is one and the same page, on whatever host and for whatever reason', async () => {
    const site = await startSite()
    const cases: [string, string][] = [
      ['alice.example', '/nowhere'],
      ['alice.example', '/nowhere/at/all?x=1'],
      ['alice.example', post],
      ['alice.example', '/posts/nothing'],
      ['club.example', '/login'],
      ['bob.example', '/register'],
      ['bob.example', '/activate'],
      ['nobody.example', '/'],
      ['nobody.example', '/nowhere'],
      ['nobody.example', '/login'],
      ['dora.example', '/'],
      ['dora.example', post],
    ]
    const answers = await Promise.all(
      cases.map(([host, path]) => site.send(path, { headers: { ...html, host } })),
    )
    for (const { status, headers } of answers) {
      expect(status).toBe(404)
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': contentPolicy,
        'cache-control': 'no-cache',
      })
    }
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.text).toContain('There is nothing at this address')
  })

  test('speaks the language of the visitor, and HEAD is told the same', async () => {
    const site = await startSite()
    const headers = { ...html, 'accept-language': 'de' }
    expect((await site.send('/nowhere', { headers })).text).toContain('Unter dieser Adresse gibt es nichts')
    expect(await site.send('/nowhere', { method: 'HEAD', headers })).toMatchObject({ status: 404, text: '' })
  })

  test.each([
    ['GET', '/nowhere', {}],
    ['GET', '/nowhere', { accept: 'application/json' }],
    ['POST', '/nowhere', html],
    ['GET', '/api/nowhere', html],
    ['GET', '/ws/nowhere', html],
    ['GET', '/.well-known/nowhere', html],
  ])('is JSON for programs: %s %s %o', async (method, path, headers) => {
    const site = await startSite()
    const answer = await site.send(path, { method, headers })
    expect(answer).toMatchObject({ status: 404, json: { error: { code: 'E-NOTFOUND' } } })
  })

  test('counts like any other request', async () => {
    const site = await startSite()
    const answers = await Promise.all(Array.from({ length: 12 }, () => site.send('/', { headers: html })))
    const left = answers.map(({ headers }) => Number(headers['x-ratelimit-remaining']))
    expect(Math.min(...left)).toBe(Math.max(...left) - 11)
  })
})

test('a host that is no name is refused', async () => {
  const site = await startSite()
  const answer = await site.send('/', { headers: { host: '"><script>' } })
  expect(answer.status).toBe(400)
  expect(answer.text).not.toContain('<script')
})

test.each([
  '/assets/absent.js',
  '/assets/page-routes.ts',
  '/assets/..%2Findex.ts',
  '/assets/%2e%2e%2findex.ts',
  '/assets/app/host/absent.ts',
  '/assets/app/host/pace.test.ts',
  '/assets/app/..%2Fhost/pace.ts',
])('there is no asset %s', async (path) => {
  const site = await startSite()
  expect((await site.send(path)).status).toBe(404)
})
