import { rgbaToThumbHash } from 'thumbhash'
import { expect, test } from 'vitest'
import { thumbhashColor } from './thumbhash-color.ts'

test.each([
  [255, 255, 255],
  [0, 0, 0],
  [200, 40, 40],
  [30, 90, 200],
])('a picture of rgb(%d %d %d) has this colour', (...color) => {
  const rgba = Array.from({ length: 16 }, () => [...color, 255]).flat()
  const hash = Buffer.from(rgbaToThumbHash(4, 4, rgba)).toString('base64')
  const parts = (thumbhashColor(hash) ?? '').match(/\d+/g)?.map(Number) ?? []
  expect(parts).toHaveLength(3)
  for (const [at, part] of parts.entries()) expect(Math.abs(part - (color[at] ?? 0))).toBeLessThan(12)
})

test.each(['', 'x', '%%%%'])('"%s" is no colour', (hash) => {
  expect(thumbhashColor(hash)).toBeUndefined()
})
