import { expect, test } from 'vitest'
import { rowMaker } from './row-maker.ts'

test('makes rows of plain columns; of two with one name the last counts', () => {
  expect(rowMaker(['id', 'b_2', 'id'])([1, null, 'x'])).toStrictEqual({ id: 'x', b_2: null })
})

test.each([['count(*)'], ['a b'], ["a'b"], ['x}; throw new Error(); ({'], ['é'], ['1'], ['']])(
  'takes the name %s as it is',
  (name) => {
    expect(rowMaker(['id', name])([1, 2])).toStrictEqual({ id: 1, [name]: 2 })
  },
)

test('takes __proto__ for a column and not for a prototype', () => {
  const row = rowMaker(['__proto__', 'id'])([{ evil: true }, 1])
  expect(Object.getPrototypeOf(row)).toBe(Object.prototype)
  expect(Object.keys(row as object)).toEqual(['__proto__', 'id'])
})
