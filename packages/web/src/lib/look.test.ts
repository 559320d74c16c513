import { expect, test } from 'vitest'
import { type Look, readLook, settingsOfLook } from './look.ts'

const plain: Look = { scheme: 'device', hasMoreContrast: false, isStill: false, textSize: 16 }

test.each<[Record<string, string>, Partial<Look>]>([
  [{}, {}],
  [{ theme: 'default', darkMode: 'false', fontSize: '16' }, {}],
  [{ theme: 'default', darkMode: 'true' }, { scheme: 'dark' }],
  [{ theme: 'light', darkMode: 'true' }, { scheme: 'light' }],
  [{ theme: 'dark contrast still' }, { scheme: 'dark', hasMoreContrast: true, isStill: true }],
  [{ theme: 'solarized', fontSize: 'huge' }, {}],
  [{ fontSize: '200' }, { textSize: 24 }],
  [{ fontSize: '1' }, { textSize: 14 }],
])('the settings %j are the look %j', (settings, look) => {
  expect(readLook(settings)).toEqual({ ...plain, ...look })
})

test.each<Look>([
  plain,
  { ...plain, scheme: 'light', isStill: true },
  { scheme: 'dark', hasMoreContrast: true, isStill: true, textSize: 20 },
])('the look %j is read as it was written', (look) => {
  const { theme, darkMode, fontSize } = settingsOfLook(look)
  expect(readLook({ theme, darkMode: String(darkMode), fontSize: String(fontSize) })).toEqual(look)
})
