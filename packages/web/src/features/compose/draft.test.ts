import { type Action, actionTypes } from '@kith/protocol'
import { expect, test } from 'vitest'
import {
  bodyOf,
  contentsOf,
  type Draft,
  isWider,
  lengthOf,
  localOf,
  maxAltLength,
  maxTextLength,
  momentOf,
  readAudience,
  timeProblem,
} from './draft.ts'

const draft: Draft = {
  id: 'one',
  place: 'home',
  text: 'Hello',
  audience: 'C',
  files: [],
  publishAt: '',
  expiresAt: '',
  changedAt: 0,
}
const picture = { key: 'a', fileId: 'b1~a', fileName: 'a.jpg', contentType: 'image/jpeg', size: 9 }

test('the limits are those of the protocol', () => {
  const { text, alt } = actionTypes.POST.content.properties as unknown as {
    text: { maxLength: number }
    alt: { patternProperties: Record<string, { maxLength: number }> }
  }
  const [altText] = Object.values(alt.patternProperties)
  expect([text.maxLength, altText?.maxLength]).toEqual([maxTextLength, maxAltLength])
})

test('lengths are counted in code points', () => {
  expect([lengthOf('añ'), lengthOf('👩‍🌾'), lengthOf('')]).toEqual([2, 3, 0])
})

test.each([
  ['P', { visibility: 'P', community: undefined }],
  ['C:club.example', { visibility: 'C', community: 'club.example' }],
  ['Z', { visibility: 'C', community: undefined }],
])('the audience %s is %o', (audience, read) => {
  expect(readAudience(audience)).toEqual(read)
})

test('a body has the files that are there, in their order, and their texts', () => {
  const files = [
    { ...picture, key: 'b', fileId: 'b1~b' },
    { ...picture, alt: 'A cat' },
    { key: 'c', fileName: 'c.jpg', contentType: 'image/jpeg', size: 1, alt: 'Later' },
  ]
  expect(bodyOf({ ...draft, files, audience: 'P:club.example' })).toEqual({
    type: 'POST',
    content: { text: 'Hello', alt: { 'b1~a': 'A cat' } },
    attachments: ['b1~b', 'b1~a'],
    visibility: 'P',
    audienceTag: 'club.example',
  })
})

test.each([
  ['C', 'P', true],
  ['C', 'C', false],
  ['P', 'C', false],
  [null, 'C', true],
  [undefined, 'P', false],
] as const)('a picture that %s sees goes wider with %s: %s', (seenBy, audience, wider) => {
  const file = seenBy === undefined ? picture : { ...picture, seenBy }
  expect(isWider({ files: [file], audience })).toBe(wider)
})

test('times are checked as the server does', () => {
  const now = new Date('2026-11-23T12:00').getTime()
  const check = (publishAt: string, expiresAt: string) => timeProblem({ publishAt, expiresAt }, now)
  expect([
    check('', ''),
    check('2026-11-23T11:59', ''),
    check('2026-11-24T12:00', '2026-11-24T11:00'),
    check('', '2026-11-22T12:00'),
    check('2037-11-24T12:00', ''),
    check('2026-11-24T12:00', '2026-11-25T12:00'),
  ]).toEqual([
    {},
    { publishAt: 'past' },
    { expiresAt: 'order' },
    { expiresAt: 'past' },
    { publishAt: 'far' },
    {},
  ])
  expect(localOf(momentOf('2026-11-24T09:05'))).toBe('2026-11-24T09:05')
})

test('a post to write again brings its files with who sees them', () => {
  const action = {
    status: 'A',
    visibility: 'F',
    content: { text: 'Old' },
    files: [{ ...picture, alt: 'A cat' }],
  } as unknown as Action
  expect(contentsOf(action)).toMatchObject({
    text: 'Old',
    audience: 'F',
    files: [{ fileId: 'b1~a', alt: 'A cat', seenBy: 'F' }],
  })
})
