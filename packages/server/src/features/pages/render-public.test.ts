import { expect, test } from 'vitest'
import type { PublicOwner, ShownPost } from './find-public.ts'
import { renderPublicPage, renderPublicPost } from './render-public.ts'

const place = { language: 'en', url: 'https://alice.example' } as const
const alice: PublicOwner = {
  idTag: 'alice.example',
  name: 'Alice',
  type: 'person',
  bio: 'Gardener',
  pictureId: 'b1~picture',
}
const post: ShownPost = {
  actionId: 'a1~first',
  issuer: { idTag: 'alice.example', name: 'Alice' },
  createdAt: '2026-01-31T12:00:00.000Z',
  title: 'Roses',
  summary: undefined,
  text: 'One\ntwo\n\nthree',
  attachments: [],
  alt: new Map(),
  pictures: [{ fileId: 'b1~rose', alt: 'A red rose' }],
}

const pageOf = (
  owner: Partial<PublicOwner> = {},
  posts: readonly ShownPost[] = [],
  nextCursor: string | null = null,
) => renderPublicPage({ owner: { ...alice, ...owner }, posts, nextCursor }, { ...place, isNewest: true })
const postPage = (change: Partial<ShownPost> = {}) =>
  renderPublicPost({ owner: alice, post: { ...post, ...change } }, place)

test('a page is a card of its owner, for readers of microformats and for link previews', () => {
  const html = pageOf()
  for (const part of [
    '<header class="h-card">',
    '<a class="p-name u-url u-uid" href="https://alice.example/"><bdi>Alice</bdi></a>',
    '<div class="p-note"><p dir="auto">Gardener</p></div>',
    'src="/api/files/b1~picture?variant=tn"',
    '<meta property="og:title" content="Alice">',
    '<meta property="og:type" content="profile">',
    '<meta property="og:url" content="https://alice.example/">',
    '<meta property="og:description" content="Gardener">',
    '<meta property="og:image" content="https://alice.example/api/files/b1~picture?variant=sd">',
    '<link rel="canonical" href="https://alice.example/">',
    '<a href="/login">Sign in</a>',
  ])
    expect(html).toContain(part)
  expect(html).not.toContain('<script')
})

test('a post is an entry with its address, its time, its paragraphs and its pictures', () => {
  const html = pageOf({}, [post], 'more')
  for (const part of [
    '<article class="h-entry">',
    '<h3 class="p-name" dir="auto">Roses</h3>',
    '<a class="u-url" href="/posts/a1~first"><time class="dt-published" datetime="2026-01-31T12:00:00.000Z">31 January 2026</time></a>',
    '<div class="e-content"><p dir="auto">One<br>two</p><p dir="auto">three</p></div>',
    '<img class="u-photo preview" src="/api/files/b1~rose?variant=sd" alt="A red rose" loading="lazy">',
    '<a href="/?before=more" rel="next">Older posts</a>',
  ])
    expect(html).toContain(part)
  const page = postPage()
  expect(page).toContain('<h1 class="p-name" dir="auto">Roses</h1>')
  expect(page).toContain('<meta property="og:url" content="https://alice.example/posts/a1~first">')
  expect(page).toContain('<meta property="og:type" content="article">')
})

test('a long post is shown in part, and whole on its own page', () => {
  const text = `${'🌹'.repeat(1000)}end`
  expect(pageOf({}, [{ ...post, text }])).toMatch(
    /🌹…<\/p><\/div>\n<p><a href="\/posts\/a1~first">Read on<\/a><\/p>/,
  )
  expect(postPage({ text })).toContain('🌹end</p>')
  expect(pageOf({}, [{ ...post, text: 'x'.repeat(1000) }])).not.toContain('Read on')
})

const hostile = '</title><script>alert(1)</script>"\'><img src=x onerror=alert(1)>&\u202eevil\u2066\u0007\n\n'

test('nothing that people write becomes markup, or turns the text around it', () => {
  const owner = { name: hostile, bio: hostile }
  const written = {
    title: hostile,
    summary: hostile,
    text: hostile,
    issuer: { idTag: 'bob.example', name: hostile },
  }
  const pictures = [{ fileId: '"><script>', alt: hostile }]
  const pages = [
    pageOf(owner, [{ ...post, ...written, pictures }], '"><script>'),
    postPage({ ...written, pictures, actionId: '"><script>' }),
  ]
  for (const html of pages) {
    expect(html).not.toMatch(/<script|onerror=alert\(1\)>[^&]|<img src=x/)
    expect(html).not.toMatch(/\p{Bidi_Control}|(?!\n)\p{Cc}/u)
    expect(html.match(/<title>/g)).toHaveLength(1)
  }
})

test('nothing is loaded from another origin, whatever stands in a post', () => {
  const html = postPage({
    text: 'https://tracker.example/pixel.gif',
    issuer: { idTag: 'bob.example', name: 'Bob' },
  })
  for (const [, source] of html.matchAll(/<(?:img|link rel="stylesheet")[^>]* (?:src|href)="([^"]*)"/g))
    expect(source).toMatch(/^\/(?:api|assets)\//)
})
