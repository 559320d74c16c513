import { expect, test } from 'vitest'
import { belongsTo, type FeedRow, rowsOf, unseenOf, withNewer, withNewest, withoutRows } from './feed-rows.ts'

const row = (second: number, more: Partial<FeedRow> = {}): FeedRow => ({
  actionId: `a${second}`,
  type: 'POST',
  createdAt: new Date(second * 1000).toISOString(),
  issuerTag: 'anna.example.com',
  ...more,
})
const dataOf = (...pages: FeedRow[][]) => ({
  pages: pages.map((rows) => ({ rows, next: undefined })),
  pageParams: pages.map(() => ''),
})
const idsOf = (rows: readonly FeedRow[]) => rows.map(({ actionId }) => actionId)

test('an action that stands on two pages is shown once', () => {
  expect(idsOf(rowsOf(dataOf([row(3), row(2)], [row(2), row(1)])))).toEqual(['a3', 'a2', 'a1'])
})

test('what came in the wrong order, or twice, stands once and newest first', () => {
  const data = withNewest(dataOf([row(3)], [row(1)]), [row(4), row(5), row(3)])
  expect(idsOf(rowsOf(data))).toEqual(['a5', 'a4', 'a3', 'a1'])
  expect(withNewest(data, [row(5)])).toBe(data)
})

test('what comes while the newest are asked for stands before them, and what was known before does not come back', () => {
  expect(idsOf(withNewer([row(5), row(4)], [row(6), row(5), row(2)]))).toEqual(['a6', 'a5', 'a4'])
})

test('rows go from every page; without any the data stay the same', () => {
  const data = dataOf([row(3), row(2)], [row(1)])
  expect(idsOf(rowsOf(withoutRows(data, ({ actionId }) => actionId === 'a1')))).toEqual(['a3', 'a2'])
  expect(withoutRows(data, () => false)).toBe(data)
})

test('new is what is newer than the first that is shown, or came late by up to a week', () => {
  const now = new Date(1_000_000_000)
  const newest = [row(999_000), row(480_000), row(222_000)]
  expect(idsOf(unseenOf(newest, [row(999_500)], { now }))).toEqual(['a999000', 'a480000'])
  expect(idsOf(unseenOf(newest, [row(136_000)], { now }))).toEqual(idsOf(newest))
  expect(idsOf(unseenOf(newest, newest, { now }))).toEqual([])
  expect(idsOf(unseenOf([row(5)], []))).toEqual(['a5'])
  expect(idsOf(unseenOf([row(5)], [row(253_402_300_799), row(3)]))).toEqual(['a5'])
})

test.each([
  ['all', {}, true],
  ['people', {}, true],
  ['people', { audienceTag: 'club.example.com' }, false],
  ['people', { issuerTag: 'club.example.com' }, false],
  ['club.example.com', { audienceTag: 'club.example.com' }, true],
  ['club.example.com', {}, false],
  ['#garden', {}, undefined],
])('with the filter %s, a post %j belongs to the feed: %s', (of, more, belongs) => {
  expect(belongsTo(of, row(1, more), new Set(['club.example.com']))).toBe(belongs)
})

test('what stands below the last row that was loaded is no news, also when a shown one has gone', () => {
  const shown = [row(9_000), row(8_000), row(7_000)]
  const newest = [row(9_500), row(9_000), row(7_500), row(7_000), row(6_000)]
  const now = new Date(10_000_000)
  const unseen = unseenOf(newest, shown, { now, loadedTo: row(7_000) })
  expect(idsOf(unseen)).toEqual(['a9500', 'a7500'])
  expect(idsOf(unseenOf(newest, shown, { now }))).toEqual(['a9500', 'a7500', 'a6000'])
})
