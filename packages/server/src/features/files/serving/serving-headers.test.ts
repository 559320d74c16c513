import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyText } from '#harness/any-text.ts'
import { contentDisposition, type ServedBytes, servingHeaders } from './serving-headers.ts'

const bytes: ServedBytes = {
  contentType: 'image/png',
  fileName: 'cat.png',
  etag: '"abc"',
  caching: 'private',
  forceDownload: false,
}
const headersOf = (change: Partial<ServedBytes>) => servingHeaders({ ...bytes, ...change })

describe('The headers of served bytes', () => {
  test('forbid everything to whatever is opened', () => {
    expect(headersOf({})).toMatchObject({
      'content-type': 'image/png',
      'content-security-policy': "sandbox; default-src 'none'",
      'accept-ranges': 'bytes',
      vary: 'Authorization',
      etag: '"abc"',
    })
  })

  test.each(['audio/mpeg', 'video/mp4', 'video/quicktime'])('let a browser play %s', (contentType) => {
    const policy = 'content-security-policy'
    expect(headersOf({ contentType })[policy]).toBe("default-src 'none'; media-src 'self'")
    expect(headersOf({ contentType, forceDownload: true })[policy]).toBe("sandbox; default-src 'none'")
  })

  test.each(['video/x+xml', 'audio/', 'audiovisual/html'])('sandbox %s, which is no media', (contentType) => {
    expect(headersOf({ contentType })['content-security-policy']).toBe("sandbox; default-src 'none'")
  })

  test.each([
    'image/png',
    'image/jpeg',
    'image/avif',
    'image/x-icon',
    'image/vnd.adobe.photoshop',
    'audio/mpeg',
    'video/mp4',
    'application/pdf',
    'text/plain',
    'text/plain; charset=utf-8',
  ])('let a browser show %s', (contentType) => {
    expect(headersOf({ contentType })['content-disposition']).toBe('inline; filename="cat.png"')
    const forced = headersOf({ contentType, forceDownload: true })
    expect(forced['content-disposition']).toBe('attachment; filename="cat.png"')
  })

  test.each([
    'text/html',
    'image/svg+xml',
    'image/x+xml',
    'image/X+XML; charset=utf-8',
    'video/x+xml',
    'audio/x.y+xml',
    'image/svg',
    'image/svg+xml-compressed',
    'text/xml',
    'application/xml',
    'application/xhtml+xml',
    'multipart/related',
    'message/rfc822',
    'text/css',
    'text/javascript',
    'text/plainer',
    'application/pdfx',
    'application/octet-stream',
    'application/json',
    'audio/',
    '',
  ])('let it only save %j', (contentType) => {
    expect(headersOf({ contentType })['content-disposition']).toBe('attachment; filename="cat.png"')
  })

  test.each([
    ['immutable', 'public, max-age=31536000, immutable'],
    ['public', 'public, no-cache'],
    ['private', 'private, no-cache'],
  ] as const)('say to caches of %s bytes: %s', (caching, value) => {
    expect(headersOf({ caching })['cache-control']).toBe(value)
  })
})

describe('Content-Disposition', () => {
  test.each([
    ['a.txt', 'inline; filename="a.txt"'],
    ['a b; c.txt', 'inline; filename="a b; c.txt"'],
    ['"q".txt', `inline; filename="_q_.txt"; filename*=UTF-8''%22q%22.txt`],
    ['50%41.txt', `inline; filename="50_41.txt"; filename*=UTF-8''50%2541.txt`],
    ['Zoë.png', `inline; filename="Zo_.png"; filename*=UTF-8''Zo%C3%AB.png`],
    [
      "d'été (1)*.png",
      `inline; filename="d'_t_ (1)*.png"; filename*=UTF-8''d%27%C3%A9t%C3%A9%20%281%29%2A.png`,
    ],
    ['🐈', `inline; filename="__"; filename*=UTF-8''%F0%9F%90%88`],
    ['\ud800', `inline; filename="_"; filename*=UTF-8''%EF%BF%BD`],
  ])('of %j is %s', (fileName, expected) => {
    expect(contentDisposition('inline', fileName)).toBe(expected)
  })

  test('holds no name that ends the header or its quotes, and gives the true one back', () => {
    fc.assert(
      fc.property(anyText, (fileName) => {
        const header = contentDisposition('attachment', fileName)
        expect(header).toMatch(
          /^attachment; filename="[ !#-[\]-~]*"(; filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-F]{2})*)?$/,
        )
        const extended = /filename\*=UTF-8''(.*)$/.exec(header)?.[1]
        const plain = /filename="([^"]*)"/.exec(header)?.[1]
        expect(extended === undefined ? plain : decodeURIComponent(extended)).toBe(fileName.toWellFormed())
      }),
    )
  })
})
