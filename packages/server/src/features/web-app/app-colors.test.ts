import { rgbaToThumbHash } from 'thumbhash'
import { expect, test } from 'vitest'
import { colorsOf, plainColors } from './app-colors.ts'

/** The ThumbHash of a picture in one colour. */
function hashOf(color: readonly [number, number, number]): string {
  const pixels = new Uint8Array(8 * 8 * 4)
  for (let at = 0; at < pixels.length; at += 4) pixels.set([...color, 255], at)
  return Buffer.from(rgbaToThumbHash(8, 8, pixels)).toString('base64')
}

const partsOf = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))

function luminanceOf(hex: string): number {
  const [r = 0, g = 0, b = 0] = partsOf(hex).map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const pictures = [
  [255, 255, 255],
  [0, 0, 0],
  [255, 230, 0],
  [0, 255, 60],
  [30, 60, 200],
  [128, 128, 128],
  [250, 180, 200],
] as const

test.each(pictures)('text is readable on the colours of a picture of %i %i %i', (...color) => {
  const { theme, background } = colorsOf(hashOf(color))
  expect(1.05 / (luminanceOf(theme) + 0.05)).toBeGreaterThanOrEqual(4.5)
  expect((luminanceOf(background) + 0.05) / 0.05).toBeGreaterThanOrEqual(10)
})

test('the colours are those of the picture', () => {
  const [red = 0, green = 0, blue = 0] = partsOf(colorsOf(hashOf([200, 20, 30])).theme)
  expect(red).toBeGreaterThan(3 * Math.max(green, blue))
  const [r = 0, , b = 0] = partsOf(colorsOf(hashOf([20, 40, 220])).theme)
  expect(b).toBeGreaterThan(3 * r)
})

test.each([undefined, '', 'AAAA', '%%%%'])('without a picture that is known they are plain: %s', (hash) => {
  expect(colorsOf(hash)).toEqual(plainColors)
})
