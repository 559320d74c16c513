import { describe, expect, test } from 'vitest'
import { createRouter, type Target } from './router.ts'

const answer = () => undefined
const at = (method: Target['method'], url: string, more: Partial<Target> = {}): Target => ({
  method,
  route: url,
  urls: [url],
  answer,
  ...more,
})

describe('a router', () => {
  const file = at('GET', '/files/:id', { headers: { 'x-of': 'file' } })
  const removed = at('DELETE', '/files/:id', { headers: { 'x-removed': 'yes' } })
  const upload = at('POST', '/files/:preset(^(?:raw|photo)$)')
  const upTo = at('PATCH', '/parts/*')
  const router = createRouter([file, removed, upload, upTo])

  test.each([
    ['GET', '/files/a', file, { id: 'a' }, {}],
    ['HEAD', '/files/a%2Fb?x=1&y=a%20b', file, { id: 'a/b' }, { x: '1', y: 'a b' }],
    ['POST', '/files/raw', upload, { preset: 'raw' }, {}],
    ['PATCH', '/parts/a/b/c', upTo, { '*': 'a/b/c' }, {}],
  ] as const)('finds %s %s', (method, url, target, params, query) => {
    expect(router.find(method, url)).toMatchObject({ target, params, query })
  })

  test.each([
    ['POST', '/files/other'],
    ['GET', '/files/a/'],
    ['BREW', '/files/a'],
    ['GET', `/files/${'x'.repeat(4097)}`],
  ])('finds nothing for %s %.40s', (method, url) => {
    expect(router.find(method, url)).toBeUndefined()
  })

  test('knows an address that is none', () => {
    expect(router.find('GET', '/files/%zz')).toBe('malformed')
    expect(router.methodsOf('/files/%zz')).toEqual([])
  })

  test('says which methods an address takes, and what stands in the answers there', () => {
    expect(router.methodsOf('/files/raw?x')).toEqual(['DELETE', 'GET', 'HEAD', 'POST'])
    expect(router.headersOf('/files/a')).toEqual({ 'x-of': 'file', 'x-removed': 'yes' })
    expect([router.methodsOf('/nowhere'), router.headersOf('/nowhere')]).toEqual([[], {}])
  })
})
