import { expect, test } from 'vitest'
import { type DatabaseLab, openDatabaseLab } from '#harness/database-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'

const before = {
  n: 10,
  s: ' Ábc Déf! ',
  list: [1, 'a', { x: 1 }, 'a'],
  nothing: null,
  inner: { n: 2, kept: true },
}

async function update(lab: DatabaseLab, data: object): Promise<unknown> {
  await lab.write({ type: 'replace', path: 'a/1', data: before }, { type: 'update', path: 'a/1', data })
  return lab.get('a/1')
}

const computed: readonly [object, object][] = [
  [{ n: { $op: 'increment' } }, { n: 11 }],
  [{ n: { $op: 'increment', by: 2.5 } }, { n: 12.5 }],
  [{ new: { $op: 'increment', by: 3 } }, { new: 3 }],
  [{ n: { $op: 'decrement', by: 4 } }, { n: 6 }],
  [{ n: { $op: 'multiply', by: 3 } }, { n: 30 }],
  [{ new: { $op: 'multiply', by: 3 } }, { new: 0 }],
  [{ list: { $op: 'append', values: ['b', 2] } }, { list: [...before.list, 'b', 2] }],
  [{ list: { $op: 'append', value: ['b'] } }, { list: [...before.list, ['b']] }],
  [{ new: { $op: 'append', value: 1 } }, { new: [1] }],
  [{ list: { $op: 'remove', values: ['a', { x: 1.0 }] } }, { list: [1] }],
  [{ s: { $op: 'concat', values: ['x', 1] } }, { s: ' Ábc Déf! x1' }],
  [{ n: { $op: 'setIfNotExists', value: 1 } }, {}],
  [{ nothing: { $op: 'setIfNotExists', value: 1 } }, {}],
  [{ new: { $op: 'setIfNotExists', value: { a: 1 } } }, { new: { a: 1 } }],
  [{ n: { $op: 'min', value: 3 } }, { n: 3 }],
  [{ n: { $op: 'max', by: 3 } }, {}],
  [{ new: { $op: 'max', value: -3 } }, { new: -3 }],
  [{ 'inner.n': { $op: 'increment' } }, { inner: { n: 3, kept: true } }],
  [{ inner: { n: { $op: 'increment' } } }, { inner: { n: 3 } }],
  [{ new: [{ $op: 'increment' }, { $fn: 'now' }] }, { new: [1, 1767225600] }],
  [{ new: { $fn: 'lowercase', args: ['ÄB'] } }, { new: 'äb' }],
  [{ s: { $fn: 'uppercase' } }, { s: ' ÁBC DÉF! ' }],
  [{ s: { $fn: 'trim' } }, { s: 'Ábc Déf!' }],
  [{ new: { $fn: 'slugify', args: [{ $field: 's' }] } }, { new: 'abc-def' }],
  [
    { s: 'Later', new: { $fn: 'lowercase', args: [{ $field: 's' }] } },
    { s: 'Later', new: 'later' },
  ],
  [{ new: { $fn: 'length', args: ['a😀'] } }, { new: 2 }],
  [{ list: { $fn: 'length' } }, { list: 4 }],
  [
    { new: { $fn: 'hash', args: ['abc'] } },
    { new: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' },
  ],
]

const refused: readonly [object][] = [
  [{ $op: 'divide', by: 2 }],
  [{ $op: 'toString' }],
  [{ $op: '__proto__' }],
  [{ $op: 3 }],
  [{ $op: 'increment', by: '2' }],
  [{ $op: 'multiply' }],
  [{ $op: 'multiply', by: 1e308 }],
  [{ $op: 'append', value: 1 }],
  [{ $op: 'append', values: 1 }],
  [{ $op: 'concat', value: {} }],
  [{ $op: 'min' }],
  [{ $fn: 'eval', args: ['1'] }],
  [{ $fn: 'constructor' }],
  [{ $fn: 'lowercase', args: 'x' }],
  [{ $fn: 'lowercase' }],
  [{ $fn: 'length' }],
  [{ $query: 'median', path: 'a' }],
  [{ $query: 'count' }],
  [{ $query: 'count', path: 'a/b' }],
  [{ $query: 'sum', path: 'a' }],
  [{ $query: 'sum', path: 'a', field: 1 }],
]

eachDialect('Computed values', (open) => {
  test('take what stands there into account', async () => {
    const lab = await openDatabaseLab(open)
    for (const [data, expected] of computed)
      expect({ data, document: await update(lab, data) }).toEqual({
        data,
        document: { id: '1', ...before, ...expected },
      })
  })

  test('that are unknown, or of something else, are refused', async () => {
    const lab = await openDatabaseLab(open)
    const data = { n: 1e300, o: { deep: { $set: 1 } } }
    await lab.write({ type: 'replace', path: 'a/1', data })
    for (const [value] of refused) {
      const code = await lab
        .write({ type: 'update', path: 'a/1', data: { n: value } })
        .catch(({ code }) => code)
      expect({ value, code }).toEqual({ value, code: 400 })
    }
    expect(await lab.get('a/1')).toEqual({ id: '1', ...data })
  })

  test('ask what the transaction sees', async () => {
    const lab = await openDatabaseLab(open)
    const numbers = [3, 1, 2].map((n) => ({ type: 'replace', path: `c/${n}`, data: { n, name: `n${n}` } }))
    const ask = ($query: string, rest: object = { field: 'n' }) => ({ $query, path: 'c', ...rest })
    await lab.write(
      ...numbers,
      { type: 'replace', path: 'c/9', data: {} },
      {
        type: 'create',
        path: 'answers',
        data: {
          count: ask('count', {}),
          with: ask('count'),
          sum: ask('sum'),
          avg: ask('avg'),
          min: ask('min'),
          max: ask('max'),
          first: ask('first'),
          last: ask('last'),
          firstId: ask('first', {}),
          lastId: ask('last', {}),
          exists: ask('exists', {}),
          existsField: ask('exists', { field: 'none' }),
          existsDocument: { $query: 'exists', path: 'c/9' },
          existsOther: { $query: 'exists', path: 'c/8' },
          noSum: { $query: 'sum', path: 'none', field: 'n' },
          noAvg: { $query: 'avg', path: 'none', field: 'n' },
          noFirst: { $query: 'first', path: 'none' },
        },
      },
    )
    const [answer] = await lab.query('answers')
    expect(answer).toEqual({
      id: expect.any(String),
      count: 4,
      with: 3,
      sum: 6,
      avg: 2,
      min: 1,
      max: 3,
      first: 1,
      last: 3,
      firstId: '1',
      lastId: '9',
      exists: true,
      existsField: false,
      existsDocument: true,
      existsOther: false,
      noSum: 0,
    })
  })
})
