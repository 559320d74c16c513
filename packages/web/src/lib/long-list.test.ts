import { expect, test } from 'vitest'
import { layOut } from './long-list.ts'

test('a list that fits into the page is left as it is', () => {
  const list = layOut(60_000, 800)
  expect(list.height).toBe(60_000)
  expect([-300, 0, 1, 59_200].map(list.placeAt)).toEqual([-300, 0, 1, 59_200])
})

test('of one that is taller than a browser allows both ends are reached, and every place between', () => {
  const total = 10 * 2 ** 23
  const list = layOut(total, 800)
  expect(list.height).toBe(2 ** 23)
  expect(list.placeAt(0)).toBe(0)
  expect(list.placeAt(list.height - 800)).toBeCloseTo(total - 800, 3)
  for (const place of [-50, 0, 12_345, total / 2, total - 800, total])
    expect(list.placeAt(list.scrollTo(place))).toBeCloseTo(place, 3)
  // What stands below the list in the page moves nothing.
  expect(list.placeAt(list.height - 800 + 90)).toBeCloseTo(total - 800 + 90, 3)
  // A turn of the wheel skips nothing by more than a window.
  expect(list.placeAt(60) - list.placeAt(0)).toBeLessThan(800)
})

test('one that is shorter than the window stays', () => {
  expect(layOut(100, 800, 50).placeAt(20)).toBe(20)
})
