import type { Action } from '@kith/protocol'
import { expect, test } from 'vitest'
import { rowsOf } from './thread-rows.ts'

const message = (actionId: string, issuerTag: string, date: Date, x?: Action['x']): Action => ({
  actionId,
  type: 'MSG',
  issuerTag,
  issuer: { idTag: issuerTag, name: issuerTag },
  visibility: null,
  status: 'A',
  createdAt: date.toISOString(),
  stat: {},
  ...(x ? { x } : {}),
})

test('messages have lines between days and above the first unread one, and names where another begins', () => {
  const at = (day: number, minute: number) => new Date(2026, 10, day, 12, minute)
  const messages = [
    message('a', 'me', at(1, 0)),
    message('b', 'me', at(1, 1), { ackedAt: 5 }),
    message('c', 'bob', at(1, 2)),
    message('d', 'bob', at(1, 3)),
    message('e', 'bob', at(1, 40)),
    message('f', 'me', at(2, 0)),
  ]
  const rows = rowsOf(messages, { ownTag: 'me', firstUnreadId: 'd' })
  expect(
    rows.map((row) => (row.kind === 'message' ? `${row.key}${row.isFirst ? ' first' : ''}` : row.kind)),
  ).toEqual(['day', 'a first', 'b', 'c first', 'unread', 'd first', 'e first', 'day', 'f first'])
  expect(rows.flatMap((row) => (row.kind === 'message' && row.isSeen ? row.key : []))).toEqual(['a', 'b'])
  expect(rows.flatMap((row) => (row.kind === 'message' && row.isFollowed ? row.key : []))).toEqual(['f'])
})
