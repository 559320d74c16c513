import { expect, test } from 'vitest'
import { keyboardRoom } from './keyboard-room.ts'

const whole = { height: 844, offsetTop: 0, scale: 1 }

test('a window that is seen as a whole has no keyboard', () => {
  expect(keyboardRoom(844, whole)).toEqual({ height: 0, covered: 0 })
})

test('a scroll bar is no keyboard', () => {
  expect(keyboardRoom(844, { ...whole, height: 829 })).toEqual({ height: 0, covered: 0 })
})

test('a keyboard covers what is missing', () => {
  expect(keyboardRoom(844, { ...whole, height: 508 })).toEqual({ height: 336, covered: 336 })
})

test('of a view that was moved down it covers less, and is as high', () => {
  expect(keyboardRoom(844, { ...whole, height: 508, offsetTop: 100 })).toEqual({ height: 336, covered: 236 })
  expect(keyboardRoom(844, { ...whole, height: 508, offsetTop: 336 })).toEqual({ height: 336, covered: 0 })
})

test('zooming in covers nothing', () => {
  expect(keyboardRoom(844, { height: 422, offsetTop: 100, scale: 2 })).toEqual({ height: 0, covered: 0 })
})

test('a keyboard over a page that is zoomed in is as high as it is', () => {
  const zoomed = { height: 254, offsetTop: 0, scale: 2 }
  expect(keyboardRoom(844, zoomed)).toEqual({ height: 336, covered: 336 })
  expect(keyboardRoom(844, { ...zoomed, offsetTop: 500 })).toEqual({ height: 336, covered: 90 })
})
