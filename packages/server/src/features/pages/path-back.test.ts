import { expect, test } from 'vitest'
import { appPaths } from '#features/web-app/index.ts'
// @ts-expect-error A script of the pages, without types.
import { pathBack } from './assets/path-back.js'

const own = 'https://alice.example'
const back = (to: string | null, paths: readonly string[] | undefined = appPaths) => pathBack(to, own, paths)

test.each([
  '/',
  '/posts/a1~x',
  '/home',
  '/messages',
  '/messages/b/c?d=e',
  '/profiles/bob.example/posts',
  '/communities/club.example',
  '/account',
  '/apps/bob.example/list?file=1',
  '/communities/new',
])('signing in leads back to %s', (to) => {
  expect(back(to)).toBe(own + to)
})

test.each([
  null,
  'https://evil.example/home',
  '//evil.example/home',
  '/\\evil.example/home',
  '\\\\evil.example\\home',
  `${own}//evil.example/home`,
  `${own}//evil.example`,
  '/%2f/evil.example',
  '/home/../..//evil.example',
  '/home//evil.example',
  'javascript:alert(1)//home',
  'data:text/html,/home',
  'https:evil.example',
  'https://alice.example@evil.example/home',
  'https://alice.example.evil.example/home',
  'http://alice.example/home',
  '\t//evil.example/home',
  '/homely',
  '/api/files/f1',
  '/assets/web/app.svg',
  '/login',
  '/profiles//posts',
])('and not to %j', (to) => {
  const found = back(to)
  expect(found === undefined ? own : new URL(found).origin).toBe(own)
  expect(found).toBeUndefined()
})

test('signing in leads back with the code of a link into a community, and with no other fragment', () => {
  const to = `/communities/club.example#join=${'a1'.repeat(12)}`
  expect(back(to)).toBe(own + to)
  for (const hash of ['#top', '#join=short', '#token=x'])
    expect(back(`/communities/club.example${hash}`)).toBe(`${own}/communities/club.example`)
})

test.each(['/', '/home', '/posts/a1~x', '/messages/b'])('without the web app not to %s', (to) => {
  expect(pathBack(to, own, undefined)).toBeUndefined()
})
