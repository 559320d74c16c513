import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { updateMyImage } from '@kith/protocol'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'
import { writeWebBuild } from '#harness/web-build.ts'

const alice = 'alice.localhost'
const bob = 'bob.localhost'
const club = 'club.localhost'
const gone = 'gone.localhost'

let folder: string
let server: TestServer
let plain: TestServer
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-web-'))
  await writeWebBuild(folder, 'x1')
  server = await TestServer.start({ webBuild: folder, env: { DEFAULT_TENANT: 'none' } })
  plain = await TestServer.start({ webBuild: join(folder, 'absent') })
  await server.createTenant(alice, { name: 'Alice' })
  await server.createTenant(bob, { name: ' ' })
  await server.createTenant(club, { type: 'community' })
  await server.createTenant(gone)
  await server.suspend(gone)
})
afterAll(async () => {
  await server.stop()
  await plain.stop()
  await rm(folder, { recursive: true })
})

async function open(path: string, { host = alice, of = server, ...headers }: Asked = {}) {
  const answer = await of.request(host, path, { headers: { accept: 'text/html', ...headers } })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}
type Asked = { host?: string; of?: TestServer } & Record<string, unknown>

const isApp = ({ status, text }: { status: number; text: string }) =>
  status === 200 && text.includes('/assets/web/app-x1.js')
const paths = [
  '/home',
  '/messages',
  '/messages/b/c',
  '/notifications',
  '/people',
  '/people/requests',
  '/profiles/bob.localhost',
  '/profiles/bob.localhost/posts',
  '/communities',
  '/communities/club.localhost',
  '/files',
  '/files/f1/x?y=z',
  '/settings/security',
  '/search?q=x',
  '/new',
  '/new/drafts',
  '/bookmarks',
  '/welcome',
]

describe('the document of the app', () => {
  test('answers the paths of the app, and no others', async () => {
    for (const path of paths) expect([path, isApp(await open(path))]).toEqual([path, true])
    for (const path of ['/homely', '/profiles', '/communities/new', '/login', '/account', '/nowhere'])
      expect([path, isApp(await open(path))]).toEqual([path, false])
    expect((await open('/communities/new')).text).toContain('/assets/found-community.js')
  })

  test('is narrowed by its policies, and not sent again', async () => {
    const { headers } = await open('/home', { 'accept-encoding': 'br' })
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-encoding': 'br',
      'cache-control': 'no-cache',
      vary: expect.stringContaining('Accept-Encoding'),
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'permissions-policy': expect.stringMatching(
        /^camera=\(self\), (?=.*microphone=\(\))(?=.*geolocation=\(\))/,
      ),
      'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self' ${server.urlOf(alice).replace('http', 'ws')}; frame-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types kith ProseMirrorClipboard`,
    })
    const again = await open('/home', {
      'accept-encoding': 'br',
      'if-none-match': headers.get('etag') ?? '',
    })
    expect(again).toMatchObject({ status: 304, text: '' })
  })

  test('is on no host where nobody signs in, or that is nobody’s', async () => {
    for (const host of [club, gone, 'nobody.localhost'])
      for (const path of ['/home', '/files/x', '/manifest.webmanifest', '/service-worker.js'])
        expect([host, path, (await open(path, { host })).status]).toEqual([host, path, 404])
    expect((await open('/', { host: club, cookie: 'kith=x' })).text).toContain('belongs to a community')
    expect((await open('/', { host: gone, cookie: 'kith=x' })).status).toBe(404)
  })
})

describe('the pages of the server', () => {
  const leadsTo = async (path: string, of: TestServer, host: string) => {
    const { text } = await open(path, { of, host })
    return Array.from(text.matchAll(/(?:href|data-welcome|data-home)="(\/[^"/][^"]*|\/)"/g), ([, to]) => to)
  }

  test('lead to screens of the app', async () => {
    expect(await leadsTo('/set-password', server, alice)).toEqual(expect.arrayContaining(['/welcome', '/']))
    expect(await leadsTo('/approve', server, alice)).toContain('/settings/sessions')
    expect(await leadsTo('/communities/new', server, alice)).toContain('/communities')
    expect(await leadsTo('/confirm-email?token=x', server, alice)).toContain('/settings/security')
    for (const path of ['/set-password', '/approve', '/communities/new', '/confirm-email?token=x'])
      expect(await leadsTo(path, server, alice)).not.toContain('/account')
  })

  test('lead to the account where there is no app', async () => {
    for (const path of ['/set-password', '/approve', '/communities/new', '/confirm-email?token=x']) {
      const places = await leadsTo(path, plain, plain.baseIdTag)
      expect(places).toContain('/account')
      expect(places).not.toContain('/welcome')
    }
  })
})

describe('in the place of the public page', () => {
  test('the app answers browsers that stay signed in, whatever their cookie says', async () => {
    for (const path of ['/', '/posts/a1~x']) {
      const answer = await open(path, { cookie: 'a=b; kith=' })
      expect(isApp(answer)).toBe(true)
      expect(answer.headers.get('vary')).toContain('Accept-Encoding, Cookie')
    }
    for (const cookie of ['a=kith', 'kiths=x', '__Host-kith=x', '']) {
      const answer = await open('/', { cookie })
      expect(answer.text).toContain('h-card')
      expect(answer.headers.get('vary')).toContain('Accept-Language, Cookie')
    }
  })
})

describe('the files of a build', () => {
  test('may be kept for ever, and come compressed as far as the client takes it', async () => {
    for (const [accepted, encoding] of [
      ['gzip, br', 'br'],
      ['gzip', 'gzip'],
      ['identity', null],
    ] as const) {
      const { status, headers, text } = await open('/assets/web/app-x1.js', { 'accept-encoding': accepted })
      expect({ status, text }).toEqual({ status: 200, text: "export const build = 'x1'\n" })
      expect(headers.get('content-encoding')).toBe(encoding)
      expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(headers.get('vary')).toContain('Accept-Encoding')
    }
    const font = await open('/assets/web/font-1.woff2', { 'accept-encoding': 'br' })
    expect(font.headers.get('content-type')).toBe('font/woff2')
    expect(font.headers.get('content-encoding')).toBeNull()
  })

  test.each(['absent.js', 'app-x1.js.br', '..%2Fapp.html', 'app.html', '%2e%2e', '.', 'x%00.js'])(
    'are those of its assets alone, not %s',
    async (name) => {
      expect((await open(`/assets/web/${name}`)).status).toBe(404)
    },
  )

  test('hold a service worker for the whole origin', async () => {
    const { status, headers } = await open('/service-worker.js')
    expect(status).toBe(200)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'no-cache',
      'service-worker-allowed': '/',
    })
  })
})

describe('the manifest', () => {
  const manifest = async (host: string) => JSON.parse((await open('/manifest.webmanifest', { host })).text)

  test('has the name of the tenant, and an icon that is there', async () => {
    const { headers } = await open('/manifest.webmanifest')
    expect(headers.get('content-type')).toBe('application/manifest+json; charset=utf-8')
    const { icons, ...found } = await manifest(alice)
    expect(found).toMatchObject({
      name: 'Alice',
      short_name: 'Alice',
      start_url: '/',
      scope: '/',
      display: 'standalone',
      theme_color: expect.stringMatching(/^#/),
      background_color: expect.stringMatching(/^#/),
    })
    expect(found.shortcuts.map(({ url }: { url: string }) => url)).toEqual(['/new', '/messages', '/files'])
    expect(found.share_target).toMatchObject({ action: '/new/shared', method: 'POST' })
    expect(icons).toEqual([{ src: '/assets/icon.svg', sizes: 'any', type: 'image/svg+xml' }])
    expect((await open(icons[0].src)).headers.get('content-type')).toBe('image/svg+xml')
    expect((await manifest(bob)).name).toBe(bob)
  })

  test('names its shortcuts in the language of the browser', async () => {
    const { text, headers } = await open('/manifest.webmanifest', { 'accept-language': 'de-AT,en;q=0.5' })
    const { lang, shortcuts } = JSON.parse(text)
    expect([lang, ...shortcuts.map(({ name }: { name: string }) => name)]).toEqual([
      'de',
      'Neuer Beitrag',
      'Nachrichten',
      'Dateien',
    ])
    expect(headers.get('vary')).toContain('Accept-Language')
    expect((await manifest(alice)).shortcuts[0].name).toBe('New post')
  })

  test('has the picture of the profile as square icons that everybody may read', async () => {
    const pixels = sharp({ create: { width: 700, height: 500, channels: 3, background: 'red' } })
    const body = new Blob([new Uint8Array(await pixels.png().toBuffer())])
    await (await server.as(alice)).upload(updateMyImage, { body })
    await server.settle()
    const { icons, theme_color, background_color } = await manifest(alice)
    // The colours are of the picture too.
    expect(theme_color).toMatch(/^#[b-f].[0-4].[0-4].$/)
    expect(background_color).toMatch(/^#f/)
    expect((await manifest(bob)).theme_color).toBe('#ffffff')
    const sizes = await Promise.all(
      icons.map(async ({ src }: { src: string }) => {
        const answer = await server.request(alice, src)
        const { width, height } = await sharp(Buffer.from(await answer.arrayBuffer())).metadata()
        return `${width}x${height}`
      }),
    )
    expect(sizes).toEqual(['150x150', '400x400'])
    expect(icons.map((icon: { sizes: string }) => icon.sizes)).toEqual(sizes)
  })
})

test('what is shared where no worker takes it leads to the composer, which says so', async () => {
  const { status, headers } = await server.request(alice, '/new/shared', {
    method: 'POST',
    body: new FormData(),
    redirect: 'manual',
  })
  expect([status, headers.get('location')]).toEqual([303, '/new?shared=unread'])
})

test('after signing in the app is where a person goes on', async () => {
  expect((await open('/login')).text).toMatch(/ data-app-paths="\/home \/messages \/messages\/\* /)
})

test('without a build everything is as ever', async () => {
  const home = { host: plain.baseIdTag, of: plain, cookie: 'kith=x' }
  expect(plain.running.hasWebApp).toBe(false)
  for (const path of ['/home', '/files', '/manifest.webmanifest', '/service-worker.js'])
    expect((await open(path, home)).status).toBe(404)
  expect((await open('/assets/web/app-x1.js', home)).status).toBe(404)
  const page = await open('/', home)
  expect(page.text).toContain('h-card')
  expect(page.headers.get('vary')).not.toContain('Cookie')
  expect((await open('/login', home)).text).not.toContain('data-app-paths')
})
