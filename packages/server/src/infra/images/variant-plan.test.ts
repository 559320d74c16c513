import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { imagePresets } from './images.ts'
import { planVariants } from './variant-plan.ts'

const sizes = (width: number, height: number, preset: (typeof imagePresets)[number]) =>
  planVariants({ width, height }, preset).variants.map((v) => `${v.variant} ${v.width}x${v.height}`)

describe('The preset `default`', () => {
  test.each([
    [4000, 3000, ['hd 1920x1440', 'sd 640x480', 'tn 150x113', 'ic 64x48']],
    [1080, 3840, ['hd 540x1920', 'sd 180x640', 'tn 42x150', 'ic 18x64']],
    [1921, 10, ['hd 1920x10', 'sd 640x3', 'tn 150x1', 'ic 64x1']],
  ])('fits %ix%i into the longest sides', (width, height, expected) => {
    expect(sizes(width, height, 'default')).toEqual(expected)
  })

  test.each([
    [1920, 1080, ['sd 640x360', 'tn 150x84', 'ic 64x36']],
    [640, 640, ['tn 150x150', 'ic 64x64']],
    [150, 20, ['ic 64x9']],
    [64, 64, []],
    [1, 1, []],
  ])('leaves out what would be no smaller than %ix%i', (width, height, expected) => {
    expect(sizes(width, height, 'default')).toEqual(expected)
  })

  test('keeps `sd` and `hd` moving, and shows the first frame in the small ones', () => {
    const { variants } = planVariants({ width: 3000, height: 2000 }, 'default')
    expect(variants.filter((planned) => planned.moves).map((planned) => planned.variant)).toEqual([
      'hd',
      'sd',
    ])
  })
})

describe('The preset `profile-picture`', () => {
  test.each([
    [4000, 3000, ['orig 400x400', 'tn 150x150', 'ic 64x64']],
    [300, 900, ['orig 300x300', 'tn 150x150', 'ic 64x64']],
    [900, 100, ['orig 100x100', 'ic 64x64']],
    [20, 30, ['orig 20x20']],
  ])('cuts a square out of %ix%i', (width, height, expected) => {
    expect(sizes(width, height, 'profile-picture')).toEqual(expected)
  })
})

describe('The preset `cover-photo`', () => {
  test.each([
    [4000, 3000, ['orig 1920x1080', 'tn 150x84', 'ic 64x36']],
    [1600, 1600, ['orig 1600x900', 'tn 150x84', 'ic 64x36']],
    [1600, 90, ['orig 160x90', 'tn 150x84', 'ic 64x36']],
    [1, 5000, ['orig 1x1']],
  ])('cuts 16:9 out of %ix%i', (width, height, expected) => {
    expect(sizes(width, height, 'cover-photo')).toEqual(expected)
  })
})

describe('The preset `thumbnail-only`', () => {
  test.each([
    [4000, 3000, ['tn 150x113', 'ic 64x48']],
    [150, 150, ['tn 150x150', 'ic 64x64']],
    [40, 30, ['tn 40x30']],
  ])('has a thumbnail of %ix%i whatever its size, as nothing else is kept', (width, height, expected) => {
    expect(sizes(width, height, 'thumbnail-only')).toEqual(expected)
  })
})

test('Nothing is ever enlarged, and each variant is smaller than the one before', () => {
  const pixels = fc.integer({ min: 1, max: 65_535 })
  fc.assert(
    fc.property(pixels, pixels, fc.constantFrom(...imagePresets), (width, height, preset) => {
      let before = { width, height }
      for (const planned of planVariants({ width, height }, preset).variants) {
        expect(planned.width).toBeGreaterThanOrEqual(1)
        expect(planned.height).toBeGreaterThanOrEqual(1)
        expect(planned.width).toBeLessThanOrEqual(before.width)
        expect(planned.height).toBeLessThanOrEqual(before.height)
        before = planned
      }
    }),
  )
})
