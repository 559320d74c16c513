import { ECDH } from 'node:crypto'
import { expect, test } from 'vitest'
import { readKeys } from './push-subscription.ts'

// Of the example in RFC 8291.
const p256dh = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'
const auth = 'BTBZMqHH6r4Tts7J_aSIgg'
const point = Buffer.from(p256dh, 'base64url')

test.each([
  ['as browsers give them', { p256dh, auth }],
  ['with padding', { p256dh: `${p256dh}=`, auth: `${auth}==` }],
])('keys %s are read', (_, keys) => {
  const read = readKeys(keys)
  expect(Buffer.from(read?.p256dh ?? [])).toEqual(point)
  expect(Buffer.from(read?.auth ?? []).toString('base64url')).toBe(auth)
})

const otherForm = (form: 'compressed' | 'hybrid') =>
  Buffer.from(ECDH.convertKey(point, 'prime256v1', undefined, undefined, form) as Buffer).toString(
    'base64url',
  )
const withPrefix = (prefix: number) =>
  Buffer.concat([Buffer.of(prefix), point.subarray(1)]).toString('base64url')

test.each([
  ['a compressed point', { p256dh: otherForm('compressed') }],
  ['a hybrid point', { p256dh: otherForm('hybrid') }],
  ...[0, 2, 3, 5, 6, 7, 255].map(
    (prefix) => [`the prefix ${prefix}`, { p256dh: withPrefix(prefix) }] as const,
  ),
  [
    'a point beside the curve',
    { p256dh: Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]).toString('base64url') },
  ],
  ['a point and more', { p256dh: `${p256dh}!!!` }],
  ['a point in base64', { p256dh: point.toString('base64') }],
  ['a point with spaces', { p256dh: ` ${p256dh}` }],
  ['a point with too much padding', { p256dh: `${p256dh}==` }],
  ['a secret and more', { auth: `${auth}\n` }],
  ['a secret with foreign characters between', { auth: `${auth.slice(0, 4)}*${auth.slice(4)}` }],
  ['a secret with half its padding', { auth: `${auth}=` }],
  ['no secret', { auth: '' }],
] as const)('%s is no key', (_, part) => {
  expect(readKeys({ p256dh, auth, ...part })).toBeUndefined()
})
