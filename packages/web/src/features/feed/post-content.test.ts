import { expect, test } from 'vitest'
import { absentFilesOf, contentOf, otherFilesOf, picturesOf } from './post-content.ts'

test.each([
  [undefined],
  [{}],
  [{ text: 7, title: null, url: ['https://a.de'] }],
  [{ url: 'javascript:alert(1)' }],
  [{ url: 'data:text/html,x' }],
])('%j says nothing', (content) => {
  expect(contentOf({ content } as never)).toEqual({ title: '', text: '', summary: '', url: undefined })
})

test('an address of the web is shown as a link', () => {
  expect(contentOf({ content: { url: 'https://a.de', text: 'look' } })).toMatchObject({
    url: 'https://a.de',
    text: 'look',
  })
})

test('SVG is no picture, and what is not here is counted', () => {
  const file = (contentType: string) => ({ fileId: contentType, contentType, fileName: 'x', size: 1 })
  const files = [file('image/jpeg'), file('image/svg+xml'), file('text/plain')]
  expect(picturesOf({ files })).toEqual([file('image/jpeg')])
  expect(otherFilesOf({ files })).toEqual([file('image/svg+xml'), file('text/plain')])
  expect(absentFilesOf({ files, attachments: ['1', '2', '3', '4'] })).toBe(1)
  expect(absentFilesOf({})).toBe(0)
})
