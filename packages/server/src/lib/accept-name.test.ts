import { expect, test } from 'vitest'
import { acceptName } from './accept-name.ts'

test('a name is kept without the spaces around it, and refused where nothing is seen or too much', () => {
  expect(acceptName('  Anne B. \n')).toBe('Anne B.')
  for (const name of ['', '\u200b', 'moc.elpmaxe\u202e', 'x'.repeat(101)])
    expect(() => acceptName(name, '/label')).toThrow(expect.objectContaining({ code: 'E-VALIDATION' }))
  expect(acceptName('x'.repeat(101), '/label', 101)).toHaveLength(101)
})
