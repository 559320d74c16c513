import type { RtdbAggregate, RtdbFilter, RtdbGroup } from '@kith/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runsOf } from '#harness/property-runs.ts'
import type { TenantId } from '#infra/db/index.ts'
import { compileAggregate } from '../engine/aggregate.ts'
import type { DocumentChange } from '../engine/database.ts'
import { matchesFilter } from '../engine/filter.ts'
import { GroupTotals } from '../engine/group-totals.ts'
import type { JsonObject, ReadDocument } from '../engine/values.ts'
import { DocumentView } from './document-view.ts'
import { GroupView } from './group-view.ts'
import type { Subscription } from './subscription.ts'
import { SubscriptionBudget } from './subscription-budget.ts'
import { Subscriptions } from './subscriptions.ts'
import type { ViewSpec } from './view.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect to be there
type Event = any

const specOf = (spec: Partial<ViewSpec>): ViewSpec => ({
  path: 'posts',
  scope: spec.aggregate ? 'children' : 'subtree',
  filter: undefined,
  select: undefined,
  aggregate: undefined,
  ...spec,
})

/** Documents in memory, and what is subscribed to. */
function world(budget = new SubscriptionBudget()) {
  const documents = new Map<string, ReadDocument>()
  let seq = 0
  const inCollection = ({ path, filter }: ViewSpec) =>
    [...documents]
      .filter(([at]) => at.slice(0, at.lastIndexOf('/')) === path)
      .map(([, document]) => document)
      .filter((document) => matchesFilter(filter, document))
  const allowance = budget.of({ tenantId: 1 as TenantId, idTag: 'alice.example.com', address: '' })
  const subscriptions = new Subscriptions((spec) =>
    spec.aggregate
      ? new GroupView(spec, {
          aggregate: compileAggregate(spec.aggregate),
          read: async () => ({ seq, documents: inCollection(spec) }),
          takeWeight: (values) => allowance.takeWeight(values),
        })
      : new DocumentView(spec, async () => ({ seq, data: inCollection(spec) })),
  )
  const open = (spec: Partial<ViewSpec>) => {
    const events: Event[] = []
    const listening = {
      connId: 'c',
      allowance,
      push: (text: string) => events.push(JSON.parse(text).event),
      overload: () => events.push('overload'),
    }
    const subscription = subscriptions.open(listening, specOf(spec))
    return { subscription, events }
  }
  const changeOf = (path: string, after: JsonObject | undefined): DocumentChange[] => {
    const before = documents.get(path)
    const id = path.slice(path.lastIndexOf('/') + 1)
    if (!before && !after) return []
    const read = after && ({ ...after, id } as ReadDocument)
    if (read) documents.set(path, read)
    else documents.delete(path)
    const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
    const keys = [...names].filter((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]))
    return [
      {
        action: before ? (after ? 'update' : 'delete') : 'create',
        path,
        keys: keys.filter((name) => name !== 'id'),
        ...(before && { before }),
        ...(read && { after: read }),
      },
    ]
  }
  /** Without telling: what it answers is told later. */
  const write = (writes: Readonly<Record<string, JsonObject | undefined>>) => {
    seq += 1
    const changes = Object.entries(writes).flatMap(([path, after]) => changeOf(path, after))
    return { seq, changes }
  }
  return {
    documents,
    subscriptions,
    open,
    write,
    /** Writes and tells. Answers at how many views that looked. */
    change(writes: Readonly<Record<string, JsonObject | undefined>>): Promise<number> {
      return subscriptions.tell(write(writes))
    },
    async start(opened: { readonly subscription: Subscription }) {
      const first = await opened.subscription.view.begin()
      opened.subscription.start({ seq: first.seq, lockEvents: 0 })
      return first
    },
  }
}

describe('a subscription', () => {
  test('hears what is created, changed and deleted, and of what enters and leaves its filter', async () => {
    const { open, start, change } = world()
    const opened = open({ filter: { equals: { isOpen: true } } })
    await start(opened)
    await change({ 'posts/a': { isOpen: true, n: 1 }, 'posts/b': { isOpen: false } })
    await change({ 'posts/a': { isOpen: true, n: 2 } })
    await change({ 'posts/a': { isOpen: false }, 'posts/b': { isOpen: true } })
    await change({ 'posts/a': undefined, 'posts/b': undefined })
    expect(opened.events).toEqual([
      { action: 'create', path: 'posts/a', data: { id: 'a', isOpen: true, n: 1 } },
      { action: 'update', path: 'posts/a', data: { id: 'a', isOpen: true, n: 2 } },
      { action: 'delete', path: 'posts/a' },
      { action: 'update', path: 'posts/b', data: { id: 'b', isOpen: true } },
      { action: 'delete', path: 'posts/b' },
    ])
  })

  test('shows what is selected, and hears nothing of the rest', async () => {
    const { open, start, change } = world()
    const opened = open({ select: ['title', 'absent'] })
    await start(opened)
    await change({ 'posts/a': { title: 'A', views: 1 } })
    await change({ 'posts/a': { title: 'A', views: 2 } })
    await change({ 'posts/a': { title: 'B', views: 2 } })
    await change({ 'posts/a': undefined })
    expect(opened.events).toEqual([
      { action: 'create', path: 'posts/a', data: { id: 'a', title: 'A' } },
      { action: 'update', path: 'posts/a', data: { id: 'a', title: 'B' } },
      { action: 'delete', path: 'posts/a' },
    ])
  })

  test('hears what came while its first state was read once, and only what that has not', async () => {
    const { open, write, subscriptions } = world()
    const opened = open({})
    const early = write({ 'posts/a': { n: 1 } })
    await subscriptions.tell(early)
    const { seq } = await opened.subscription.view.begin()
    expect(seq).toBe(1)
    await subscriptions.tell(write({ 'posts/b': { n: 1 } }))
    opened.subscription.start({ seq, lockEvents: 0 })
    await subscriptions.tell(write({ 'posts/c': { n: 1 } }))
    expect(opened.events.map(({ path }) => path)).toEqual(['posts/b', 'posts/c'])
  })

  test('hears of locks whatever its filter, and not twice of those that it was shown', async () => {
    const { open, start, subscriptions } = world()
    const filter: RtdbFilter = { equals: { isOpen: true } }
    const filtered = open({ filter })
    const counted = open({ aggregate: { groupBy: 'isOpen' } })
    const late = open({})
    for (const opened of [filtered, counted]) await start(opened)
    await subscriptions.tellLock('posts/a', { number: 1, event: '"first"' })
    late.subscription.start({ seq: 0, lockEvents: 2 })
    for (const number of [2, 3])
      await subscriptions.tellLock('posts/a', { number, event: `"lock ${number}"` })
    expect(filtered.events).toEqual(['first', 'lock 2', 'lock 3'])
    expect(counted.events).toEqual(['first', 'lock 2', 'lock 3'])
    expect(late.events).toEqual(['lock 3'])
  })

  test('that is told too much before it begins is ended', () => {
    const { open, change } = world()
    const { events } = open({})
    for (let at = 0; at <= 1000; at += 1) change({ 'posts/a': { at } })
    expect(events).toEqual(['overload'])
  })

  test('that is closed hears nothing more and leaves nothing', async () => {
    const { open, start, change, subscriptions } = world()
    const opened = [open({}), open({}), open({ aggregate: { groupBy: 'n' } })]
    for (const each of opened) await start(each)
    for (const { subscription } of opened) subscriptions.close(subscription)
    expect(await change({ 'posts/a': { n: 1 } })).toBe(0)
    expect([subscriptions.isEmpty, opened.flatMap(({ events }) => events)]).toEqual([true, []])
  })

  test('is worked out once for all who ask for the same', async () => {
    const { open, start, change } = world()
    const same = Array.from({ length: 50 }, (_, at) =>
      open({ filter: at % 2 ? { equals: { a: 1, b: 2 } } : { equals: { b: 2, a: 1 } } }),
    )
    for (const each of same) await start(each)
    expect(await change({ 'posts/a': { a: 1, b: 2 } })).toBe(1)
    expect(same.map(({ events }) => events.length)).toEqual(Array(50).fill(1))
  })

  test('is one of so many in a process', () => {
    const { open, subscriptions } = world(new SubscriptionBudget({ process: { subscriptions: 2 } }))
    const { subscription } = open({})
    open({})
    expect(() => open({})).toThrow(expect.objectContaining({ code: 429 }))
    subscriptions.close(subscription)
    open({})
  })

  test('asks for little, and so do all together', () => {
    const { open, subscriptions } = world(new SubscriptionBudget({ process: { characters: 250 } }))
    const asking = (characters: number) => open({ filter: { equals: { x: 'x'.repeat(characters) } } })
    expect(() => asking(16_400)).toThrow(expect.objectContaining({ code: 413 }))
    const { subscription } = asking(80)
    asking(60)
    expect(() => asking(80)).toThrow(expect.objectContaining({ code: 429 }))
    subscriptions.close(subscription)
    asking(80)
  })
})

describe('telling a change', () => {
  /** An object that counts how often its members are gone through. */
  const countedObject = () => {
    const counted = { looks: 0, value: {} }
    counted.value = new Proxy(
      { deep: 1 },
      {
        ownKeys(target) {
          counted.looks += 1
          return Reflect.ownKeys(target)
        },
      },
    )
    return counted
  }
  const changeTo = (value: object) => ({
    seq: 1,
    changes: [{ action: 'create' as const, path: 'posts/a', keys: ['o'], after: { id: 'a', o: value } }],
  })

  test('makes the text of a value once, however many filters ask about it', async () => {
    const { open, start, subscriptions } = world()
    const filters: RtdbFilter[] = Array.from({ length: 20 }, (_, n) => ({
      equals: { o: { deep: 1 } },
      notEquals: { o: { n } },
      inArray: { o: [{ deep: 1 }, n] },
      greaterThan: { o: { a: n } },
    }))
    const opened = filters.map((filter) => open({ filter }))
    for (const each of opened) await start(each)
    const counted = countedObject()
    await subscriptions.tell(changeTo(counted.value))
    expect(opened.map(({ events }) => events.length)).toEqual(filters.map(() => 1))
    // For the filters, and for the event.
    expect(counted.looks).toBe(2)
  })

  test('makes the text of a field once, however many selections show it', async () => {
    const { open, start, subscriptions } = world()
    const opened = Array.from({ length: 20 }, (_, n) => open({ select: ['o', `other ${n}`] }))
    for (const each of opened) await start(each)
    const counted = countedObject()
    await subscriptions.tell(changeTo(counted.value))
    for (const { events } of opened) expect(events[0].data).toEqual({ id: 'a', o: { deep: 1 } })
    expect(counted.looks).toBe(1)
  })

  test('lets others run meanwhile, and keeps the order for each', async () => {
    const { start, write, open, subscriptions } = world()
    const opened = Array.from({ length: 12 }, () => open({}))
    for (const each of opened) {
      await start(each)
      const push = each.subscription.listening.push
      each.subscription.listening.push = (text) => {
        const untilMs = performance.now() + 3
        while (performance.now() < untilMs);
        push(text)
      }
    }
    let turns = 0
    const count = () => {
      turns += 1
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    const asked = write({ 'posts/a': { n: 1 }, 'posts/b': { n: 1 } })
    await subscriptions.tell(asked)
    clearImmediate(counting)
    // 72 ms in turns of 8.
    expect(turns).toBeGreaterThan(3)
    for (const { events } of opened) expect(events.map(({ path }) => path)).toEqual(['posts/a', 'posts/b'])
  })

  test('tells an aggregate nothing of half a transaction', async () => {
    const { open, start, write, subscriptions } = world()
    const aggregate = { groupBy: 'tag' }
    const first = open({ aggregate })
    await start(first)
    const telling = subscriptions.tell(write({ 'posts/a': { tag: 'x' }, 'posts/b': { tag: 'x' } }))
    const late = open({ aggregate })
    const shown = await start(late)
    await telling
    expect(shown.data).toEqual([{ group: 'x', count: 2 }])
    expect(first.events.map(({ data }) => data)).toEqual([[{ group: 'x', count: 2 }]])
    expect(late.events).toEqual([])
  })
})

test('10 000 filtered subscriptions: a write looks at those that it concerns', async () => {
  const { open, start, change } = world(
    new SubscriptionBudget({ account: { subscriptions: 10_000, conditions: 10_000 } }),
  )
  const opened = Array.from({ length: 10_000 }, (_, room) => open({ filter: { equals: { room } } }))
  for (const each of opened) await start(each)
  expect(await change({ 'posts/a': { room: 5 } })).toBe(1)
  expect(await change({ 'posts/a': { room: 6 } })).toBe(2)
  expect(await change({ 'posts/b': { room: 'other' } })).toBe(0)
  const heard = opened.flatMap(({ events }, room) => (events.length > 0 ? [[room, events.length]] : []))
  expect(heard).toEqual([
    [5, 2],
    [6, 1],
  ])
})

describe('an aggregate', () => {
  const aggregate: RtdbAggregate = {
    groupBy: 'tag',
    ops: [
      { op: 'sum', field: 'n' },
      { op: 'min', field: 'n' },
    ],
  }

  test('tells the rows that a transaction has changed, together', async () => {
    const { open, start, change } = world()
    await change({ 'posts/a': { tag: 'x', n: 1 }, 'posts/b': { tag: ['x', 'y'], n: 2 } })
    const opened = open({ aggregate })
    expect((await start(opened)).data).toEqual([
      { group: 'x', count: 2, sum_n: 3, min_n: 1 },
      { group: 'y', count: 1, sum_n: 2, min_n: 2 },
    ])
    await change({ 'posts/a': { tag: 'x', n: 1, other: true } })
    await change({ 'posts/a': { tag: 'z', n: 0.5 }, 'posts/b': { tag: 'x', n: 2 } })
    await change({ 'posts/sub/comments/c': { tag: 'x', n: 9 } })
    expect(opened.events).toEqual([
      {
        action: 'update',
        path: 'posts',
        data: [
          { group: 'x', count: 1, sum_n: 2, min_n: 2 },
          { group: 'z', count: 1, sum_n: 0.5, min_n: 0.5 },
          { group: 'y', count: 0 },
        ],
      },
    ])
  })

  test('is refused when the process keeps too much for aggregates already', async () => {
    const { open, start, change, subscriptions } = world(new SubscriptionBudget({ process: { weight: 3 } }))
    await change({ 'posts/a': { tag: 'x', n: 1 }, 'posts/b': { tag: 'y', n: 2 } })
    const opened = open({ aggregate })
    await expect(start(opened)).rejects.toMatchObject({ code: 429 })
    subscriptions.close(opened.subscription)
    await start(open({ aggregate, filter: { equals: { tag: 'x' } } }))
  })

  test('that grows beyond what may be kept ends, and what it kept is free again', async () => {
    const { open, start, change, subscriptions } = world(new SubscriptionBudget({ process: { weight: 3 } }))
    const opened = open({ aggregate: { groupBy: 'tag' } })
    await start(opened)
    await change({ 'posts/a': { tag: ['a', 'b', 'c'] } })
    expect(opened.events).toHaveLength(1)
    await change({ 'posts/b': { tag: 'd' } })
    expect(opened.events).toContain('overload')
    const late = open({ aggregate: { groupBy: 'tag' } })
    await expect(start(late)).rejects.toMatchObject({ code: 429 })
    subscriptions.close(opened.subscription)
    subscriptions.close(late.subscription)
    await start(open({ aggregate: { groupBy: 'other' } }))
  })
})

/** Some of few, so that they meet. */
const value = fc.constantFrom<unknown>(0, 1, 0.1, 0.2, 'a', 'b', null, true, [1, 'a'], [], { x: 1 })
const field = fc.constantFrom('p', 'q', 'r')
const fields = fc.dictionary(field, value, { maxKeys: 3, noNullPrototype: true })
const path = fc.constantFrom('posts/a', 'posts/b', 'posts/c', 'posts/a/comments/d', 'notes/e')
const write = fc.dictionary(path, fc.option(fields, { nil: undefined }), {
  maxKeys: 4,
  noNullPrototype: true,
})
const list = fc.array(value, { maxLength: 3 })
const filter: fc.Arbitrary<RtdbFilter | undefined> = fc.option(
  fc
    .record(
      {
        equals: fc.dictionary(field, value, { maxKeys: 2, noNullPrototype: true }),
        notEquals: fc.dictionary(field, value, { maxKeys: 1, noNullPrototype: true }),
        greaterThan: fc.dictionary(field, value, { maxKeys: 1, noNullPrototype: true }),
        inArray: fc.dictionary(field, list, { maxKeys: 1, noNullPrototype: true }),
        arrayContains: fc.dictionary(field, value, { maxKeys: 1, noNullPrototype: true }),
        arrayContainsAny: fc.dictionary(field, list, { maxKeys: 1, noNullPrototype: true }),
        arrayContainsAll: fc.dictionary(field, list, { maxKeys: 1, noNullPrototype: true }),
      },
      { requiredKeys: [], noNullPrototype: true },
    )
    .map((made) => made as RtdbFilter),
  { nil: undefined },
)
const aggregate: fc.Arbitrary<RtdbAggregate> = fc.record({
  groupBy: field,
  ops: fc.array(fc.record({ op: fc.constantFrom('sum', 'avg', 'min', 'max'), field }), { maxLength: 3 }),
})

describe('the first state and what follows are the state', () => {
  test('of documents', async () => {
    const steps = fc.array(write, { minLength: 1, maxLength: 15 })
    await fc.assert(
      fc.asyncProperty(steps, steps, filter, async (before, after, asked) => {
        const { open, start, change, documents } = world()
        for (const each of before) await change(each)
        const opened = open({ filter: asked })
        const shown = new Map(
          (await start(opened)).data.map((each) => [`posts/${(each as ReadDocument).id}`, each]),
        )
        for (const each of after) await change(each)
        const direct = (at: string) => at.split('/').length === 2
        for (const { action, path: at, data } of opened.events) {
          if (!direct(at)) continue
          // A document that was there already is not created.
          expect(action === 'create' && shown.has(at)).toBe(false)
          if (action === 'delete') expect(shown.delete(at)).toBe(true)
          else shown.set(at, data)
        }
        const expected = [...documents].filter(
          ([at, each]) => /^posts\/[^/]+$/.test(at) && matchesFilter(asked, each),
        )
        expect(shown).toEqual(new Map(expected))
      }),
      { numRuns: runsOf(100), verbose: true },
    )
  })

  test('of aggregates', async () => {
    const steps = fc.array(write, { minLength: 1, maxLength: 15 })
    await fc.assert(
      fc.asyncProperty(steps, steps, filter, aggregate, async (before, after, asked, over) => {
        const { open, start, change, documents } = world()
        for (const each of before) await change(each)
        const opened = open({ filter: asked, aggregate: over })
        const rows = new Map(((await start(opened)).data as RtdbGroup[]).map((row) => [row.group, row]))
        for (const each of after) await change(each)
        for (const { action, data } of opened.events) {
          expect(action).toBe('update')
          for (const row of data) {
            if (row.count === 0) expect(rows.delete(row.group)).toBe(true)
            else rows.set(row.group, row)
          }
        }
        const counted = [...documents]
          .filter(([at, each]) => /^posts\/[^/]+$/.test(at) && matchesFilter(asked, each))
          .map(([, each]) => each)
        const plain = (all: readonly RtdbGroup[]) =>
          new Map(all.map((row) => [row.group, JSON.parse(JSON.stringify(row))]))
        const fresh = new GroupTotals(compileAggregate(over), { canRemove: false })
        for (const each of counted) fresh.add(each)
        const expected = plain(await fresh.allRows())
        expect([...rows.keys()].toSorted()).toEqual([...expected.keys()].toSorted())
        for (const [group, row] of rows)
          for (const [name, number] of Object.entries(row))
            if (typeof number === 'number') expect(number).toBeCloseTo(expected.get(group)[name], 9)
      }),
      { numRuns: runsOf(100), verbose: true },
    )
  })
})
