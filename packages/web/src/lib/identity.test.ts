import { describe, expect, test } from 'vitest'
import { shownIdTag, shownName } from './identity.ts'

describe('an identity is shown', () => {
  test.each([
    ['anna.example.com', 'anna.example.com'],
    ['xn--bcher-kva.example', 'bücher.example'],
    ['xn--fa-hia.example', 'faß.example'],
    ['xn--r8jz45g.example', '例え.example'],
  ])('%s as %s', (idTag, shown) => {
    expect(shownIdTag(idTag)).toBe(shown)
  })

  test.each([
    ['xn--pple-43d.com', 'аpple: one Cyrillic letter among Latin ones'],
    ['xn--80ak6aa92e.com', 'аррӏе: Cyrillic letters that read as Latin'],
    ['xn--a.example', 'no Punycode'],
    ['xn--99999999.example', 'beyond Unicode'],
  ])('as A-labels: %s, %s', (idTag) => {
    expect(shownIdTag(idTag)).toBe(idTag)
  })
})

describe('a name is shown', () => {
  test('without direction overrides and other controls', () => {
    expect(shownName('\u202eevil\u0007', 'a.example')).toBe('evil')
  })

  test('with few marks on a letter', () => {
    expect(shownName(`Z${'\u0300'.repeat(10_000)}o`, 'a.example')).toBe(`Z${'\u0300'.repeat(6)}o`)
  })

  test.each([undefined, '', ' \u200b '])('as the identity where nothing of %j can be seen', (name) => {
    expect(shownName(name, 'a.example')).toBe('a.example')
  })
})
