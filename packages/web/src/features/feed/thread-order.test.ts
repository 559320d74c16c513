import { expect, test } from 'vitest'
import type { FeedRow } from './feed-rows.ts'
import { threadOrder } from './thread-order.ts'

let second = 0
const answer = (actionId: string, parentId: string): FeedRow => {
  second += 1
  const createdAt = new Date(second * 1000).toISOString()
  return { actionId, type: 'CMNT', createdAt, issuerTag: 'anna.example.com', parentId }
}
const shown = (rows: FeedRow[]) =>
  threadOrder(rows, 'root').map(({ row, depth, answers }) =>
    [row.actionId, depth, answers].filter((part) => part !== undefined).join(' '),
  )

test('answers stand below what they answer, in the order of time', () => {
  const rows = [
    answer('a', 'root'),
    answer('b', 'root'),
    answer('a1', 'a'),
    answer('b1', 'b'),
    answer('a2', 'a'),
  ]
  expect(shown([...rows].reverse())).toEqual(['a 0', 'a1 1', 'a2 1', 'b 0', 'b1 1'])
})

test('from the fourth level on they are flat, and say what they answer', () => {
  const rows = [answer('a', 'root'), answer('b', 'a'), answer('c', 'b'), answer('d', 'c'), answer('e', 'd')]
  expect(shown(rows)).toEqual(['a 0', 'b 1', 'c 2', 'd 2 c', 'e 2 d'])
})

test('what answers a comment that is not loaded stands with the first level, and says so', () => {
  expect(shown([answer('x', 'gone'), answer('a', 'root')])).toEqual(['x 0 gone', 'a 0'])
})

test('ten thousand answers to answers are put in order', () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => answer(`c${at}`, at === 0 ? 'root' : `c${at - 1}`))
  expect(threadOrder(rows, 'root')).toHaveLength(10_000)
})

test('comments that answer each other end nothing', () => {
  expect(shown([answer('a', 'b'), answer('b', 'a'), answer('c', 'root')])).toEqual(['c 0'])
})
