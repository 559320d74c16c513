import { beforeEach, expect, test } from 'vitest'
import { announceDownload, forgetAnnounced, isAnnounced, takeAnnounced } from './announced.ts'

const address = '/api/files/f1~a'

beforeEach(forgetAnnounced)

test('an announced download is good for one navigation', () => {
  announceDownload(address, 'page', 0)
  expect(isAnnounced(address, 59_999)).toBe(true)
  expect(isAnnounced('/api/files/f1~b', 1)).toBe(false)
  expect(takeAnnounced(address, 59_999)).toBe('page')
  expect([isAnnounced(address, 59_999), takeAnnounced(address, 59_999)]).toEqual([false, undefined])
})

test('an announced download is good for a minute', () => {
  announceDownload(address, 'page', 0)
  expect([isAnnounced(address, 60_000), takeAnnounced(address, 60_000)]).toEqual([false, undefined])
})

test('two pages that save the same are both served, the first one first', () => {
  announceDownload(address, 'one', 0)
  announceDownload(address, 'other', 1)
  expect([takeAnnounced(address, 2), takeAnnounced(address, 2), takeAnnounced(address, 2)]).toEqual([
    'one',
    'other',
    undefined,
  ])
})

test('nothing that was announced outlives its session', () => {
  announceDownload(address, 'page', 0)
  forgetAnnounced()
  expect(isAnnounced(address, 1)).toBe(false)
})

test('a hundred downloads are announced at most', () => {
  for (let count = 0; count < 101; count += 1) announceDownload(`/${count}`, 'page', 0)
  expect([isAnnounced('/0', 1), isAnnounced('/1', 1), isAnnounced('/100', 1)]).toEqual([false, true, true])
})
