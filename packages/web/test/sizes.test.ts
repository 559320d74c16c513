import { expect, test } from 'vitest'
import { buildSizes, pageSize } from './harness/build-sizes.ts'

const sizes = buildSizes()

test('a usable feed takes at most 90 kB of scripts and 20 kB of styles', () => {
  expect(sizes.screens.size).toBeGreaterThan(0)
  expect(sizes.home.scripts).toBeGreaterThan(30)
  expect(sizes.home.scripts).toBeLessThanOrEqual(90)
  expect(sizes.home.styles).toBeLessThanOrEqual(20)
})

test.each([...sizes.screens])('%s adds at most 40 kB of scripts to it', (_, size) => {
  expect(size).toBeLessThanOrEqual(40)
})

test('no chunk is larger than 200 kB', () => {
  expect(sizes.largestChunk).toBeLessThanOrEqual(200)
})

test('the page on which one signs in takes at most 15 kB of scripts', () => {
  expect(pageSize('login')).toBeGreaterThan(1)
  expect(pageSize('login')).toBeLessThanOrEqual(15)
})
