import type { Action } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { addNewer, addOlder, asThread, maxLoaded, takeNewest, withoutMessage, withReceipt } from './thread.ts'

const message = (at: number, more: Partial<Action> = {}): Action => ({
  actionId: `m${at}`,
  type: 'MSG',
  issuerTag: 'bob.localhost',
  issuer: { idTag: 'bob.localhost', name: 'Bob' },
  visibility: null,
  status: 'A',
  createdAt: new Date(at * 1000).toISOString(),
  stat: {},
  ...more,
})
const part = (from: number, to: number, hasMore: boolean) => ({
  messages: Array.from({ length: to - from + 1 }, (_, index) => message(from + index)),
  hasMore,
})
const ends = ({ messages }: { messages: readonly Action[] }) => [
  messages[0]?.actionId,
  messages.at(-1)?.actionId,
]

describe('a thread', () => {
  test('has a bound, whichever way one goes, and knows that there is more behind it', () => {
    let thread = asThread(part(9_961, 10_000, true))
    for (let from = 9_921; from > 9_761; from -= 40) thread = addOlder(thread, part(from, from + 40, true))
    expect(thread.messages).toHaveLength(maxLoaded)
    expect([ends(thread), thread.hasOlder, thread.hasNewer]).toEqual([['m9801', 'm9920'], true, true])
    thread = addNewer(thread, part(9_920, 10_000, false))
    expect([ends(thread), thread.hasOlder, thread.hasNewer]).toEqual([['m9881', 'm10000'], true, false])
  })

  test('takes new messages, changes of known ones and deletions from the newest', () => {
    const thread = asThread(part(1, 50, true))
    const { messages } = part(20, 60, true)
    const changed = messages
      .filter(({ actionId }) => actionId !== 'm30')
      .map((one) => (one.actionId === 'm25' ? { ...one, x: { ackedAt: 7 } } : one))
    const next = takeNewest(thread, { messages: changed, hasMore: true })
    expect(next.messages).toHaveLength(59)
    expect(next.messages.find(({ actionId }) => actionId === 'm25')?.x).toEqual({ ackedAt: 7 })
  })

  test('leaves a gap open when more has come than a page', () => {
    const next = takeNewest(asThread(part(1, 50, true)), part(100, 140, true))
    expect([ends(next), next.hasNewer]).toEqual([['m1', 'm50'], true])
  })

  test('that is short is what the server says', () => {
    expect(ends(takeNewest(asThread(part(1, 3, false)), part(2, 4, false)))).toEqual(['m2', 'm4'])
  })

  test('stays the same when what changes is elsewhere', () => {
    const thread = asThread(part(1, 3, false))
    expect(withoutMessage(thread, 'm9')).toBe(thread)
    expect(withReceipt(thread, 'm9', 1)).toBe(thread)
    expect(withoutMessage(thread, 'm2').messages).toHaveLength(2)
    expect(withReceipt(thread, 'm2', 1).messages[1]?.x).toEqual({ ackedAt: 1 })
  })
})
