import { createFile, getAccessToken, type RtdbAggregate, type RtdbFilter } from '@kith/protocol'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { DatabaseDevice } from '#harness/database-client.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'

// Some of few, so that they meet.
const value = fc.constantFrom<unknown>(0, 1, 2, 'a', 'b', true, ['a', 1], { x: 1 })
const field = fc.constantFrom('p', 'q')
const data = fc.dictionary(field, value, { maxKeys: 2, noNullPrototype: true })
const merged = fc.dictionary(field, fc.option(value), { maxKeys: 2, noNullPrototype: true })
const document = fc.constantFrom('posts/a', 'posts/b', 'posts/c', 'posts/a/parts/d', 'notes/e')
const operation = fc.oneof(
  fc.record({ type: fc.constant('create'), path: fc.constantFrom('posts', 'posts/a/parts'), data }),
  fc.record({ type: fc.constant('replace'), path: document, data }),
  fc.record({ type: fc.constant('update'), path: document, data: merged }),
  fc.record({ type: fc.constant('delete'), path: document }),
)
const filter = fc.option(
  fc.oneof(
    fc.record({ equals: fc.dictionary(field, value, { minKeys: 1, maxKeys: 1, noNullPrototype: true }) }),
    fc.record({ notEquals: fc.dictionary(field, value, { minKeys: 1, maxKeys: 1, noNullPrototype: true }) }),
    fc.record({
      greaterThan: fc.dictionary(field, value, { minKeys: 1, maxKeys: 1, noNullPrototype: true }),
    }),
    fc.record({
      arrayContains: fc.dictionary(field, fc.constant('a'), { maxKeys: 1, noNullPrototype: true }),
    }),
  ),
  { nil: undefined },
)
const aggregate = fc.option(
  fc.record({
    groupBy: field,
    ops: fc.array(fc.record({ op: fc.constantFrom('sum', 'avg', 'min', 'max'), field }), { maxLength: 2 }),
  }),
  { nil: undefined },
)
const listener = fc.record({
  path: fc.constantFrom('posts', 'posts/a/parts'),
  filter,
  aggregate,
})
/** Who does it, and whether everything before has to be answered first. */
const who = fc.record({ client: fc.nat(2), isPatient: fc.boolean() })
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ who, operations: fc.array(operation, { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ who, listener }) },
)

interface Listening {
  readonly device: DatabaseDevice
  readonly path: string
  readonly filter: RtdbFilter | undefined
  readonly aggregate: RtdbAggregate | undefined
  readonly subscribed: Promise<{ readonly id: string; readonly ready: readonly Row[] }>
}
// biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect to be there
type Row = any

/** What a client that was told all this shows now. */
function shown(listening: Listening, ready: readonly Row[], events: readonly Row[]): Row[] {
  const keyOf = (row: Row) => (listening.aggregate ? row.group : `${listening.path}/${row.id}`)
  const rows = new Map<string, Row>(ready.map((row) => [keyOf(row), row]))
  for (const { action, path, data: told } of events) {
    const isDirect = path.slice(0, path.lastIndexOf('/')) === listening.path
    if (listening.aggregate)
      for (const row of told) {
        if (row.count === 0) expect(rows.delete(row.group)).toBe(true)
        else rows.set(row.group, row)
      }
    else if (!isDirect) continue
    else if (action === 'delete') expect(rows.delete(path)).toBe(true)
    else {
      expect(action === 'create' && rows.has(path)).toBe(false)
      rows.set(path, told)
    }
  }
  return [...rows.values()]
}

const sorted = (rows: readonly Row[]) =>
  rows.map((row) => JSON.stringify(Object.entries(row).toSorted())).toSorted()

eachDialect('a database', (open) => {
  let server: TestServer | undefined
  afterEach(async () => {
    await server?.stop()
    server = undefined
  })

  test('first states and events are the state, whoever writes and whenever it is asked for', async () => {
    const { url } = await open.place()
    const started = await TestServer.start({ env: { DATABASE_URL: url } })
    server = started
    const client = await started.as(home)
    const { data: access } = await client.call(getAccessToken, {})
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const { data: file } = await client.call(createFile, { body: { fileTp: 'RTDB' } })
        const place = { idTag: home, fileId: file.fileId }
        const connect = () => DatabaseDevice.connect(started, place, access.token)
        await using one = await connect()
        await using two = await connect()
        await using three = await connect()
        const devices = [one, two, three]
        const answers: Promise<Row>[] = []
        const listeners: Listening[] = []
        for (const each of steps) {
          const device = devices[each.who.client % 3] as DatabaseDevice
          if (each.who.isPatient) await Promise.all(answers)
          if ('operations' in each) answers.push(device.ask('transaction', { operations: each.operations }))
          else {
            const { path } = each.listener
            const asked = {
              ...(each.listener.filter && { filter: each.listener.filter as RtdbFilter }),
              ...(each.listener.aggregate && { aggregate: each.listener.aggregate }),
            }
            const subscribed = device.subscribe(path, asked)
            // It is looked at below.
            subscribed.catch(() => undefined)
            listeners.push({ device, path, filter: asked.filter, aggregate: asked.aggregate, subscribed })
          }
        }
        for (const { type } of await Promise.all(answers)) expect(type).toMatch(/^(transactionResult|error)$/)
        for (const listening of listeners) {
          const { device, path } = listening
          const { id, ready } = await listening.subscribed
          const events = await device.told(started, id)
          const asked = { path, filter: listening.filter, aggregate: listening.aggregate }
          const { data: state } = await device.ask('query', JSON.parse(JSON.stringify(asked)))
          expect(sorted(shown(listening, ready, events))).toEqual(sorted(state))
        }
      }),
      { numRuns: open.runs(20), verbose: true },
    )
  })
})
