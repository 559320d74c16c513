import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAppMessage, readHostMessage, readWindowMessage, windowMessage } from './messages.ts'

const context = {
  theme: { scheme: 'dark', contrast: 'normal' },
  language: 'de-AT',
  user: { idTag: 'alice.example', name: 'Alice' },
  opened: { fileId: 'r1~x', name: 'Groceries', contentType: 'x/y', kind: 'rtdb', access: 'write', size: 0 },
} as const

describe('a message', () => {
  test.each([
    { type: 'title', title: 'Groceries' },
    { type: 'state', state: 'saving' },
    { type: 'open', socket: 1, kind: 'rtdb' },
    { type: 'open', socket: 2, kind: 'crdt', access: 'read', presence: true },
    { type: 'send', socket: 1, data: '{}' },
    { type: 'send', socket: 1, data: new ArrayBuffer(3) },
    { type: 'received', socket: 1, cost: 300 },
    { type: 'close', socket: 1 },
    { type: 'resize', height: 300 },
    { type: 'navigate', url: 'https://example.org/' },
    { type: 'read', read: 1, start: 0, end: 10 },
  ])('of an app is read as it is: %j', (message) => {
    expect(readAppMessage(message)).toEqual(message)
  })

  test.each([
    { type: 'context', context },
    { type: 'opened', socket: 1 },
    { type: 'data', socket: 1, data: 'x' },
    { type: 'sent', socket: 1, cost: 300 },
    { type: 'closed', socket: 1, code: 4403, reason: 'withdrawn' },
    { type: 'ended', reason: 'flood' },
    { type: 'bytes', read: 1, data: new ArrayBuffer(3) },
    { type: 'failed', read: 1, reason: 'gone' },
  ])('of a host is read as it is: %j', (message) => {
    expect(readHostMessage(message)).toEqual(message)
  })

  test.each([
    null,
    7,
    'title',
    [],
    {},
    { type: 'toString' },
    { type: 'unknown' },
    { type: 'title' },
    { type: 'title', title: 'x'.repeat(201) },
    { type: 'title', title: { toString: () => 'x' } },
    { type: 'state', state: 'fine' },
    { type: 'open', socket: 0, kind: 'rtdb' },
    { type: 'open', socket: 1.5, kind: 'rtdb' },
    { type: 'open', socket: '1', kind: 'rtdb' },
    { type: 'open', socket: 1, kind: 'blob' },
    { type: 'open', socket: 1, kind: 'rtdb', access: 'admin' },
    { type: 'send', socket: 1 },
    { type: 'send', socket: 1, data: new Uint8Array(3) },
    { type: 'received', socket: 1, cost: -1 },
    { type: 'resize', height: -1 },
    { type: 'resize', height: 1.5 },
    { type: 'navigate', url: 'x'.repeat(2_001) },
    { type: 'navigate', url: new URL('https://example.org/') },
    { type: 'read', read: 1, start: -1, end: 10 },
    { type: 'read', read: 1, start: 0, end: 2 ** 60 },
    { type: 'read', start: 0, end: 10 },
    Object.create({ type: 'close', socket: 1 }),
  ])('that is none is dropped: %j', (value) => {
    expect(readAppMessage(value)).toBeUndefined()
  })

  test('keeps the members of its type alone', () => {
    const message = { type: 'close', socket: 1, token: 'x', __proto__: { socket: 2 } }
    expect(readAppMessage(message)).toStrictEqual({ type: 'close', socket: 1 })
  })

  test('between windows has a mark and a bounded list of versions', () => {
    const hello = { type: 'hello', versions: [1] } as const
    expect(readWindowMessage(windowMessage(hello))).toEqual(hello)
    expect(readWindowMessage(hello)).toBeUndefined()
    const endless = { type: 'hello', versions: Array.from({ length: 17 }, () => 1) } as const
    expect(readWindowMessage(windowMessage(endless))).toBeUndefined()
    const welcome = { type: 'welcome', version: 1, context } as const
    expect(readWindowMessage(windowMessage(welcome))).toEqual(welcome)
  })

  test('of any form is read or dropped, and nothing throws', () => {
    fc.assert(
      fc.property(
        fc.anything(),
        fc.constantFrom('title', 'open', 'send', 'context', 'hello'),
        (value, type) => {
          for (const given of [value, { ...Object(value), type, kith: 'app' }]) {
            for (const read of [readAppMessage, readHostMessage, readWindowMessage]) read(given)
          }
        },
      ),
    )
  })
})
