import { describe, expect, test } from 'vitest'
import { mostZoom, moved, wholePart, zoomed, zoomOf } from './crop.ts'

const wide = { width: 1600, height: 900 }

describe('the part of a picture', () => {
  test('begins as the largest of its shape, from the middle', () => {
    expect(wholePart(wide, 1)).toEqual({ x: 350, y: 0, width: 900, height: 900 })
    expect(wholePart({ width: 900, height: 1600 }, 16 / 9)).toEqual({
      x: 0,
      y: (1600 - 506.25) / 2,
      width: 900,
      height: 506.25,
    })
  })

  test('gets smaller about its middle, and no smaller than the zoom allows', () => {
    const part = zoomed(wide, wholePart(wide, 1), 2)
    expect(part).toEqual({ x: 575, y: 225, width: 450, height: 450 })
    expect(zoomOf(wide, part)).toBe(2)
    expect(zoomOf(wide, zoomed(wide, part, 99))).toBe(mostZoom)
    expect(zoomed(wide, part, 0.1)).toEqual(wholePart(wide, 1))
  })

  test('stays within the picture', () => {
    const part = wholePart(wide, 1)
    expect(moved(wide, part, { x: -9, y: -9 })).toMatchObject({ x: 0, y: 0 })
    expect(moved(wide, part, { x: 9, y: 9 })).toMatchObject({ x: 700, y: 0 })
    const corner = moved(wide, zoomed(wide, part, 4), { x: 99, y: 99 })
    expect(zoomed(wide, corner, 1)).toEqual({ x: 700, y: 0, width: 900, height: 900 })
  })

  test('of a picture of one pixel is that pixel', () => {
    const dot = { width: 1, height: 20_000 }
    expect(wholePart(dot, 1)).toMatchObject({ width: 1, height: 1 })
    expect(moved(dot, wholePart(dot, 1), { x: 1, y: 99_999 })).toMatchObject({ x: 0, y: 19_999 })
  })
})
