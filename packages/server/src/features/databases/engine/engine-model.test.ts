import { isDeepStrictEqual } from 'node:util'
import type { RtdbAggregate, RtdbFilter, RtdbSort } from '@kith/protocol'
import { expect, test } from 'vitest'
import { type DatabaseLab, databaseId, openDatabaseLab } from '#harness/database-lab.ts'
import { Dice } from '#harness/dice.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { testSeed } from '#harness/test-seed.ts'
import { applyTransaction } from './apply-transaction.ts'
import { createIndex } from './create-index.ts'
import { getDocument, runQuery } from './run-query.ts'

type Data = Record<string, unknown>
type Model = Map<string, Data>

const collections = ['c', 'c/\uE000/sub', 'd']
const ids = ['a', 'b', 'c', 'aa', '\uE000', '\u{1F600}', '__proto__', 'Z', '0', '10', '9', 'é', '\uFFFF']
const fields = ['f', 'g', '__proto__']
const long = 'x'.repeat(300)
const values: readonly unknown[] = [
  ...[0, -0, 1, -1, 10, 2.5, -1e10, 'a', 'b', '1', '', '\u{1F600}', '\uE000', 'a\u0000'],
  ...[true, false, null, [], ['a'], ['a', 'b', 'a'], [1, [2]], {}, { x: 1, y: 2 }, { y: 2, x: 1 }],
  ...[`${long}1`, `${long}2`, [`${long}1`], ['\uE000', 1]],
]
const operators = [
  'equals',
  'notEquals',
  'greaterThan',
  'greaterThanOrEqual',
  'lessThan',
  'lessThanOrEqual',
] as const
const listOperators = ['inArray', 'notInArray', 'arrayContainsAny', 'arrayContainsAll'] as const

// The oracle: the contract once more, as plainly as it can be said.
const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
function compare(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [x, y] = typeof a === 'string' && typeof b === 'string' ? [a, b] : [jsonText(a), jsonText(b)]
  return x < y ? -1 : Number(x > y)
}
const equal = (a: unknown, b: unknown) => a !== undefined && (a === b || isDeepStrictEqual(a, b))
const own = (data: Data, field: string) => Object.getOwnPropertyDescriptor(data, field)?.value
function passes(filter: RtdbFilter, data: Data): boolean {
  return Object.entries(filter).every(([operator, operands]) =>
    Object.entries(operands as Data).every(([field, operand]) => {
      const value = own(data, field)
      const list = operand as unknown[]
      if (operator === 'notEquals') return !equal(value, operand)
      if (operator === 'notInArray') return !list.some((it) => equal(value, it))
      if (value === undefined) return false
      const has = (it: unknown) => Array.isArray(value) && value.some((element) => equal(element, it))
      if (operator === 'equals') return equal(value, operand)
      if (operator === 'greaterThan') return compare(value, operand) > 0
      if (operator === 'greaterThanOrEqual') return compare(value, operand) >= 0
      if (operator === 'lessThan') return compare(value, operand) < 0
      if (operator === 'lessThanOrEqual') return compare(value, operand) <= 0
      if (operator === 'inArray') return list.some((it) => equal(value, it))
      if (operator === 'arrayContains') return has(operand)
      if (operator === 'arrayContainsAny') return list.some(has)
      return Array.isArray(value) && list.every(has)
    }),
  )
}

interface Query {
  readonly path: string
  readonly filter: RtdbFilter
  readonly sort?: RtdbSort
  readonly offset: number
  readonly limit?: number
  readonly aggregate?: RtdbAggregate
}

function answer(model: Model, { path, filter, sort = [], offset, limit, aggregate }: Query): unknown[] {
  const documents = [...model]
    .filter(([at]) => at.slice(0, at.lastIndexOf('/')) === path)
    .map(([at, data]) => ({ id: at.slice(at.lastIndexOf('/') + 1), ...data }))
    .filter((document) => passes(filter, document))
    .toSorted((a, b) => {
      for (const { field, ascending } of sort) {
        const order = compare(own(a, field), own(b, field))
        if (order !== 0) return ascending ? order : -order
      }
      return a.id < b.id ? -1 : 1
    })
  const rows = aggregate ? groups(documents, aggregate.groupBy) : documents
  return rows.slice(offset, limit === undefined ? undefined : offset + limit)
}

function groups(documents: readonly Data[], field: string): unknown[] {
  const counts = new Map<string, number>()
  for (const document of documents) {
    const value = own(document, field)
    for (const it of value === undefined ? [] : Array.isArray(value) ? value : [value]) {
      const group = typeof it === 'string' ? it : jsonText(it)
      counts.set(group, (counts.get(group) ?? 0) + 1)
    }
  }
  return [...counts]
    .map(([group, count]) => ({ group, count }))
    .toSorted((a, b) => b.count - a.count || (a.group < b.group ? -1 : 1))
}

const randomData = (dice: Dice): Data => {
  const data: Data = Object.create(null)
  for (const field of fields) if (dice.roll() < 0.7) data[field] = dice.pick(values)
  return data
}

function randomQuery(dice: Dice): Query {
  const filter: Record<string, Data> = {}
  for (let count = dice.below(3); count > 0; count -= 1) {
    const field = dice.pick(fields)
    if (dice.roll() < 0.6) filter[dice.pick(operators)] = { [field]: dice.pick(values) }
    else if (dice.roll() < 0.3) filter.arrayContains = { [field]: dice.pick(values) }
    else
      filter[dice.pick(listOperators)] = {
        [field]: Array.from({ length: dice.below(4) }, () => dice.pick(values)),
      }
  }
  for (const operator of Object.keys(filter))
    filter[operator] = JSON.parse(JSON.stringify(filter[operator])) as Data
  const sort = Array.from({ length: dice.below(3) }, () => ({
    field: dice.pick([...fields, 'id']),
    ascending: dice.roll() < 0.5,
  }))
  return {
    path: dice.pick(collections),
    filter: filter as RtdbFilter,
    offset: dice.below(3),
    ...(sort.length > 0 ? { sort } : {}),
    ...(dice.roll() < 0.5 ? { limit: dice.below(6) } : {}),
    ...(dice.roll() < 0.2 ? { aggregate: { groupBy: dice.pick(fields) } } : {}),
  }
}

/** Some operations, and what they make of the model. */
function randomTransaction(dice: Dice, before: Model): { operations: object[]; after: Model } {
  const operations: object[] = []
  const after: Model = new Map(before)
  for (let count = 1 + dice.below(4); count > 0; count -= 1) {
    const path = `${dice.pick(collections)}/${dice.pick(ids)}`
    const data = randomData(dice)
    const kind = dice.roll()
    if (kind < 0.5) {
      operations.push({ type: 'replace', path, data })
      after.set(path, data)
    } else if (kind < 0.75) {
      operations.push({ type: 'delete', path })
      after.delete(path)
    } else {
      operations.push({ type: 'update', path, data })
      const merged: Data = Object.assign(Object.create(null), after.get(path), data)
      for (const field of Object.keys(data)) if (data[field] === null) delete merged[field]
      after.set(path, merged)
    }
  }
  return { operations, after }
}

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value))

async function check(lab: DatabaseLab, model: Model, dice: Dice): Promise<void> {
  const query = randomQuery(dice)
  const found = await runQuery(lab.deps, lab, query)
  expect({ query, data: asJson(found.data) }).toEqual({ query, data: asJson(answer(model, query)) })
}

eachDialect('The engine', (open) => {
  test('does what a plain map would do, with and without indexes', async () => {
    const lab = await openDatabaseLab(open)
    for (let run = 0; run < open.runs(2); run += 1) {
      const seed = testSeed() + run
      try {
        await tryOne({ ...lab, fileId: databaseId(run) }, new Dice(seed))
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error })
      }
    }
  })

  test('answers the state of one moment while others write', async () => {
    const lab = await openDatabaseLab(open)
    const seed = testSeed()
    const dice = new Dice(seed)
    const path = (index: number) => `big/${String(index).padStart(4, '0')}`
    const size = 700
    for (let from = 0; from < size; from += 350)
      await lab.write(
        ...Array.from({ length: 350 }, (_, index) => ({
          type: 'replace',
          path: path(from + index),
          data: { n: 0, all: 'all', padding: 'x'.repeat(600) },
        })),
      )
    const building = createIndex(lab.deps, lab, { path: 'big', field: 'n' })
    // Each transaction moves one from a document to another: every state has the sum 0.
    const move = () =>
      lab.write(
        { type: 'update', path: path(dice.below(size)), data: { n: { $op: 'increment' } } },
        { type: 'update', path: path(dice.below(size)), data: { n: { $op: 'decrement' } } },
      )
    for (let run = 0; run < open.runs(3); run += 1) {
      const writing = Promise.all(Array.from({ length: 10 }, move))
      const ranges = { greaterThan: { n: -1e6 }, lessThan: { n: 1e6 } }
      const filter = dice.roll() < 0.5 ? ranges : {}
      const [{ data }, { data: top }, { data: rows }] = await Promise.all([
        runQuery(lab.deps, lab, { path: 'big', filter, select: ['n'] }),
        runQuery(lab.deps, lab, { path: 'big', sort: [{ field: 'n', ascending: false }], limit: 20 }),
        runQuery(lab.deps, lab, {
          path: 'big',
          aggregate: { groupBy: 'all', ops: [{ op: 'sum', field: 'n' }] },
        }),
      ])
      await writing
      expect({ seed, rows }).toEqual({ seed, rows: [{ group: 'all', count: size, sum_n: 0 }] })
      const sum = data.reduce((total, it) => total + Number((it as { n?: unknown }).n), 0)
      expect({ seed, run, count: data.length, sum }).toEqual({ seed, run, count: size, sum: 0 })
      const order = (top as { id: string; n: number }[]).toSorted(
        (a, b) => b.n - a.n || (a.id < b.id ? -1 : 1),
      )
      expect(top).toEqual(order)
      expect(new Set(order.map(({ id }) => id)).size).toBe(20)
    }
    await building
    const { data: all, seq } = await runQuery(lab.deps, lab, { path: 'big' })
    for (const n of [-2, -1, 0, 1, 2])
      expect(await runQuery(lab.deps, lab, { path: 'big', filter: { equals: { n } } })).toEqual({
        data: all.filter((document) => 'n' in document && document.n === n),
        seq,
      })
    expect((await getDocument(lab.deps, lab, path(0))).document).toEqual(all[0])
  })
})

async function tryOne(lab: DatabaseLab, dice: Dice): Promise<void> {
  const write = (operations: readonly object[]) =>
    applyTransaction(lab.deps, lab, { operations: operations as never, account: 'alice' })
  let model: Model = new Map()
  const indexAt = dice.below(30)
  for (let step = 0; step < 45; step += 1) {
    const { operations, after } = randomTransaction(dice, model)
    await write(operations)
    model = after
    if (step === indexAt)
      for (const path of collections)
        for (const field of ['f', '__proto__']) await createIndex(lab.deps, lab, { path, field })
    for (let count = 0; count < 4; count += 1) await check(lab, model, dice)
  }
}
