import { expect, test } from 'vitest'
import { databaseId, openDatabaseLab } from '#harness/database-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { listChanges } from './list-changes.ts'

eachDialect('A query', (open) => {
  test('filters, sorts, cuts and selects, in this order', async () => {
    const lab = await openDatabaseLab(open)
    const people: readonly [string, object][] = [
      ['ann', { age: 30, name: 'Ann' }],
      ['bob', { age: 25, name: 'Bob' }],
      ['cid', { age: 35, name: 'Cid' }],
      ['dan', { name: 'Dan' }],
    ]
    await lab.write(...people.map(([id, data]) => ({ type: 'replace', path: `people/${id}`, data })))
    await lab.write({ type: 'replace', path: 'people/ann/pets/rex', data: { age: 5 } })
    const found = await lab.query('people', {
      filter: { notEquals: { age: 35 } },
      sort: [{ field: 'age', ascending: false }],
      offset: 1,
      limit: 2,
      select: ['name', 'nothing'],
    })
    expect(found).toEqual([
      { id: 'bob', name: 'Bob' },
      { id: 'dan', name: 'Dan' },
    ])
    expect(await lab.query('people/ann/pets')).toEqual([{ id: 'rex', age: 5 }])
    expect(await lab.query('people', { limit: 0 })).toEqual([])
    expect(await lab.query('nothing')).toEqual([])
  })

  test('has documents by id in code units', async () => {
    const lab = await openDatabaseLab(open)
    const ids = ['\uE000', '\u{1F600}', 'z', 'a', 'B', '\u{10FFFF}\uFFFF', '\uFFFF', '\ud7ff']
    await lab.write(...ids.map((id) => ({ type: 'replace', path: `c/${id}`, data: {} })))
    const found = (await lab.query('c')) as { id: string }[]
    expect(found.map(({ id }) => id)).toEqual(ids.toSorted())
  })

  test('counts groups', async () => {
    const lab = await openDatabaseLab(open)
    await lab.write(
      ...['a', 'b', 'b'].map((tag, index) => ({ type: 'create', path: 'c', data: { tag, n: index } })),
    )
    const aggregate = { groupBy: 'tag', ops: [{ op: 'sum' as const, field: 'n' }] }
    expect(await lab.query('c', { aggregate })).toEqual([
      { group: 'b', count: 2, sum_n: 3 },
      { group: 'a', count: 1, sum_n: 0 },
    ])
    expect(await lab.query('c', { aggregate, filter: { lessThan: { n: 2 } } })).toEqual([
      { group: 'a', count: 1, sum_n: 0 },
      { group: 'b', count: 1, sum_n: 1 },
    ])
  })

  test.each<[string, object]>([
    ['a/b', {}],
    ['c', { limit: -1 }],
    ['c', { offset: 0.5 }],
    ['c', { select: 'name' }],
    ['c', { select: [1] }],
    ['c', { filter: { equals: 3 } }],
    ['c', { sort: [{}] }],
    ['c', { aggregate: {} }],
  ])('of %s with %j is malformed', async (path, query) => {
    const lab = await openDatabaseLab(open)
    await lab.write({ type: 'create', path: 'c', data: {} })
    await expect(lab.query(path, query)).rejects.toEqual(expect.objectContaining({ code: 400 }))
  })

  test('of more than a result may have is refused, and part of it is not', async () => {
    const lab = await openDatabaseLab(open)
    const data = { text: 'x'.repeat(1_000_000) }
    await lab.write(
      ...Array.from({ length: 18 }, (_, index) => ({
        type: 'replace',
        path: `c/${index}`,
        data: { ...data, index },
      })),
    )
    await expect(lab.query('c')).rejects.toEqual(expect.objectContaining({ code: 413 }))
    expect(await lab.query('c', { limit: 2, sort: [{ field: 'index', ascending: true }] })).toHaveLength(2)
    expect(await lab.query('c', { select: ['index'] })).toHaveLength(18)
  })
})

eachDialect('The log of changes', (open) => {
  test('tells what is missing, not half of it', async () => {
    const lab = await openDatabaseLab(open)
    const data = { text: 'x'.repeat(1_000_000) }
    for (let index = 0; index < 40; index += 1)
      await lab.write({ type: 'replace', path: `c/${index % 3}`, data: { ...data, index } })
    expect((await listChanges(lab.deps, lab, 38)).changes.map(({ seq }) => seq)).toEqual([39, 40])
    expect(await listChanges(lab.deps, lab, 1)).toEqual({ isComplete: false, changes: [] })
    expect(await listChanges(lab.deps, lab, 40)).toEqual({ isComplete: true, changes: [] })
    expect(await listChanges(lab.deps, { ...lab, fileId: databaseId(9) }, 0)).toEqual({
      isComplete: true,
      changes: [],
    })
  })
})
