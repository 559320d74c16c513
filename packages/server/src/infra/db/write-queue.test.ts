import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { TenantId, Writer } from './database.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { defaultWriteQueueLimits, WriteQueue, type WriteQueueLimits } from './write-queue.ts'

interface Tables {
  items: { id: number; parent_id: number | null; body: string }
}

/** A connection that counts commands, and fails those it is told to. */
class WatchedConnection extends SqliteConnection {
  readonly commands: string[] = []
  readonly failures: { command: string; error: Error }[] = []

  override command(text: string): void {
    this.commands.push(text)
    const [next] = this.failures
    if (next?.command === text) {
      this.failures.shift()
      throw next.error
    }
    super.command(text)
  }

  count(text: string): number {
    return this.commands.filter((command) => command === text).length
  }
}

const alice = 1 as TenantId
const logged: { level: string; details: object; message: string }[] = []
const logger = {
  warn: (details: object, message: string) => void logged.push({ level: 'warn', details, message }),
  error: (details: object, message: string) => void logged.push({ level: 'error', details, message }),
}
const batches: number[] = []
const metrics = {
  transactionEnded: () => undefined,
  batchCommitted: (count: number) => void batches.push(count),
}
let folder: string
let path: string
let connection: WatchedConnection
let log: { sync: () => Promise<void> }

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kith-queue-'))
  path = join(folder, 'kith.db')
  logged.length = 0
  batches.length = 0
  log = { sync: async () => undefined }
  connection = new WatchedConnection(path, { readOnly: false, busyTimeoutMs: 0 })
  connection.raw.exec(`
    pragma journal_mode = wal;
    create table items (id integer primary key, parent_id integer references items (id) deferrable initially deferred,
      body text not null default '') strict`)
})

afterEach(() => {
  connection.close()
  rmSync(folder, { recursive: true })
})

const queueWith = (limits: Partial<WriteQueueLimits> = {}) =>
  // Slow machines have no part in what shares a batch here.
  new WriteQueue(
    { connection, log },
    { ...defaultWriteQueueLimits, maxBatchMs: 60_000, ...limits },
    { logger, metrics },
  )
const add = (tx: Writer, id: number, more: Partial<Tables['items']> = {}) =>
  tx
    .tables<Tables>()
    .insertInto('items')
    .values({ id, parent_id: null, body: '', ...more })
    .execute()
const ids = () =>
  connection.raw
    .prepare('select id from items order by id')
    .all()
    .map(({ id }) => id)
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('transactions that wait together share one commit', async () => {
  const queue = queueWith()
  await Promise.all(numbers(50).map((id) => queue.add(alice, (tx) => add(tx, id))))
  expect(ids()).toEqual(numbers(50))
  expect(connection.count('begin immediate')).toBe(1)
  expect(connection.count('commit')).toBe(1)
  expect(batches).toEqual([50])
})

test('nothing is acknowledged, and no effect runs, before the log is on the disk; meanwhile the next gather', async () => {
  const syncs: PromiseWithResolvers<void>[] = []
  log.sync = () => {
    const sync = Promise.withResolvers<void>()
    syncs.push(sync)
    return sync.promise
  }
  const queue = queueWith()
  const told: string[] = []
  const write = (id: number) =>
    queue
      .add(alice, async (tx) => {
        tx.afterCommit(() => told.push(`effect of ${id}`))
        await add(tx, id)
      })
      .then(() => told.push(`answer to ${id}`))
  const first = write(1)
  await expect.poll(() => syncs.length).toBe(1)
  const others = [write(2), write(3)]
  // Whatever can go on without the disk has gone on by then: nothing but the log leaves this process.
  for (let turn = 0; turn < 20; turn += 1) await nextTurn()
  expect([told, connection.count('commit')]).toEqual([[], 1])
  syncs[0]?.resolve()
  await first
  await expect.poll(() => syncs.length).toBe(2)
  expect(told).toEqual(['effect of 1', 'answer to 1'])
  syncs[1]?.resolve()
  await Promise.all(others)
  expect([connection.count('commit'), batches]).toEqual([2, [1, 2]])
})

test('what changes nothing does not wait for the disk', async () => {
  log.sync = () => new Promise(() => undefined)
  const queue = queueWith()
  await queue.add(
    alice,
    async (tx) => void (await tx.tables<Tables>().selectFrom('items').select('id').execute()),
  )
})

test('once the log cannot be brought to the disk nothing is acknowledged any more', async () => {
  log.sync = async () => {
    throw new Error('EIO')
  }
  const queue = queueWith()
  const write = (id: number) => queue.add(alice, (tx) => add(tx, id))
  const refused = expect.objectContaining({ code: 'E-UNAVAILABLE' })
  await expect(Promise.allSettled([write(1), write(2)])).resolves.toEqual([
    { status: 'rejected', reason: refused },
    { status: 'rejected', reason: refused },
  ])
  log.sync = async () => undefined
  await expect(write(3)).rejects.toEqual(refused)
  expect(logged).toMatchObject([{ level: 'error' }])
})

test('a batch takes no more than its bound, in order of arrival', async () => {
  const queue = queueWith({ maxBatch: 20 })
  const order: number[] = []
  await Promise.all(
    numbers(50).map((id) =>
      queue.add(alice, async (tx) => {
        order.push(id)
        await add(tx, id)
      }),
    ),
  )
  expect(order).toEqual(numbers(50))
  expect(connection.count('commit')).toBe(3)
})

test('no work begins before the one before it has ended', async () => {
  const queue = queueWith()
  let running = 0
  await Promise.all(
    numbers(10).map((id) =>
      queue.add(alice, async (tx) => {
        running += 1
        expect(running).toBe(1)
        await add(tx, id)
        await nextTurn()
        running -= 1
      }),
    ),
  )
})

test('a work that fails undoes its own changes alone', async () => {
  const queue = queueWith()
  const outcomes = await Promise.allSettled(
    numbers(9).map((id) =>
      queue.add(alice, async (tx) => {
        await add(tx, id)
        if (id % 3 === 0) throw new Error(`no ${id}`)
        return id
      }),
    ),
  )
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(3)
  expect(ids()).toEqual([1, 2, 4, 5, 7, 8])
  expect(connection.count('commit')).toBe(1)
})

test('a commit that one work spoils is made again for each of the others', async () => {
  const queue = queueWith()
  let effects = 0
  const outcomes = await Promise.allSettled(
    numbers(4).map((id) =>
      queue.add(alice, async (tx) => {
        tx.afterCommit(() => {
          effects += 1
        })
        await add(tx, id, { parent_id: id === 3 ? 99 : null })
      }),
    ),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(ids()).toEqual([1, 2, 4])
  expect(effects).toBe(3)
})

test('a full disk refuses the work that does not fit, and the others go through', async () => {
  const queue = queueWith()
  const pages = Number(connection.raw.prepare('pragma page_count').get()?.page_count)
  connection.raw.exec(`pragma max_page_count = ${pages + 4}`)
  const outcomes = await Promise.allSettled(
    numbers(4).map((id) =>
      queue.add(alice, (tx) => add(tx, id, { body: 'x'.repeat(id === 2 ? 100_000 : 10) })),
    ),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect(outcomes[1]).toMatchObject({ reason: { code: 'E-UNAVAILABLE' } })
  expect(ids()).toEqual([1, 3, 4])
})

test('an error that undoes the whole transaction makes the innocent run again', async () => {
  const queue = queueWith()
  const runs = new Map<number, number>()
  const outcomes = await Promise.allSettled(
    numbers(3).map((id) =>
      queue.add(alice, async (tx) => {
        runs.set(id, (runs.get(id) ?? 0) + 1)
        await add(tx, id)
        if (id !== 2) return
        connection.raw.exec('rollback')
        throw new Error('undone')
      }),
    ),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect([...runs]).toEqual([
    [1, 2],
    [2, 1],
    [3, 1],
  ])
  expect(ids()).toEqual([1, 3])
})

test('works run again, with a savepoint each, only when one that changed something failed', async () => {
  const queue = queueWith()
  const runs = new Map<number, number>()
  const run = (failing: number, hasChanges: boolean) =>
    Promise.allSettled(
      numbers(3).map((id) =>
        queue.add(alice, async (tx) => {
          runs.set(id, (runs.get(id) ?? 0) + 1)
          if (id !== failing || hasChanges) await add(tx, id + failing * 10)
          if (id === failing) throw new Error(`no ${id}`)
        }),
      ),
    )
  await run(2, false)
  expect(Object.fromEntries(runs)).toEqual({ 1: 1, 2: 1, 3: 1 })
  expect(connection.count('savepoint work')).toBe(0)
  await run(3, true)
  expect(Object.fromEntries(runs)).toEqual({ 1: 3, 2: 3, 3: 3 })
  expect(ids()).toEqual([21, 23, 31, 32])
})

test('a table that a failed work made is gone, whoever shared its batch', async () => {
  const queue = queueWith()
  const outcomes = await Promise.allSettled([
    queue.add(alice, (tx) => add(tx, 1)),
    queue.add(alice, async (tx) => {
      await tx.command('create table leftover (id integer)')
      throw new Error('no table')
    }),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(connection.raw.prepare("select name from sqlite_schema where name = 'leftover'").all()).toEqual([])
  expect(ids()).toEqual([1])
})

test('a savepoint that cannot be made refuses what was undone with it and leaves the queue in order', async () => {
  const queue = queueWith()
  connection.failures.push({ command: 'savepoint work', error: new Error('I/O') })
  const failing = async (tx: Writer) => {
    await add(tx, 2)
    throw new Error('no 2')
  }
  const works = [(tx: Writer) => add(tx, 1), failing, (tx: Writer) => add(tx, 3)]
  const outcomes = await Promise.allSettled(works.map((work) => queue.add(alice, work)))
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  await queue.add(alice, (tx) => add(tx, 9))
  expect(ids()).toEqual([3, 9])
})

test('more than the bound may not wait', async () => {
  const queue = queueWith({ maxQueued: 2 })
  const waiting = [1, 2].map((id) => queue.add(alice, (tx) => add(tx, id)))
  await expect(queue.add(alice, (tx) => add(tx, 3))).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
  await Promise.all(waiting)
  await queue.add(alice, (tx) => add(tx, 4))
  expect(ids()).toEqual([1, 2, 4])
})

test('waits while another process writes, without holding up this one', async () => {
  const queue = queueWith()
  const other = new DatabaseSync(path)
  other.exec('begin immediate; insert into items (id) values (100)')
  let isDone = false
  const waiting = queue
    .add(alice, (tx) => add(tx, 1))
    .then(() => {
      isDone = true
    })
  // Reads go on meanwhile, and see what was committed.
  const { promise: retried, resolve } = Promise.withResolvers<void>()
  const poll = setInterval(() => connection.count('begin immediate') > 3 && resolve(), 1)
  await retried
  clearInterval(poll)
  expect(isDone).toBe(false)
  expect(ids()).toEqual([])
  other.exec('commit')
  other.close()
  await waiting
  expect(ids()).toEqual([1, 100])
})

test('gives up on a database that stays locked, and serves again once it is free', async () => {
  const queue = queueWith({ maxBusyMs: 20 })
  const other = new DatabaseSync(path)
  other.exec('begin immediate')
  await expect(queue.add(alice, (tx) => add(tx, 1))).rejects.toMatchObject({
    code: 'E-UNAVAILABLE',
    retryAfterSecs: 1,
  })
  other.exec('rollback')
  other.close()
  await queue.add(alice, (tx) => add(tx, 2))
  expect(ids()).toEqual([2])
})

test('gives up a work that awaits something else, with the place it came from, and goes on with the next', async () => {
  const queue = queueWith({ warnMs: 5, limitMs: 20 })
  const { promise: never } = Promise.withResolvers<void>()
  let leaked: Writer | undefined
  const stuck = queue.add(alice, async (tx) => {
    leaked = tx
    await add(tx, 1)
    await never
  })
  const next = queue.add(alice, (tx) => add(tx, 2))
  await expect(stuck).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
  await next
  await expect(add(leaked!, 3)).rejects.toThrow('has ended')
  expect(ids()).toEqual([2])
  expect(logged.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'A transaction is slow: what is awaited in it?'],
    ['error', 'A transaction was given up'],
  ])
  expect(logged[0]?.details).toMatchObject({ stack: expect.stringContaining('write-queue.test.ts') })
})

test('a work that throws before it awaits anything is refused like any other', async () => {
  const queue = queueWith()
  const throwing = queue.add(alice, () => {
    throw new Error('at once')
  })
  await expect(throwing).rejects.toThrow('at once')
  await queue.add(alice, (tx) => add(tx, 1))
  expect(ids()).toEqual([1])
})

test('closing waits for what is queued and takes no more', async () => {
  const queue = queueWith()
  const waiting = numbers(3).map((id) => queue.add(alice, (tx) => add(tx, id)))
  const closed = queue.close()
  await expect(queue.add(alice, (tx) => add(tx, 9))).rejects.toThrow('closed')
  await closed
  await Promise.all(waiting)
  expect(ids()).toEqual([1, 2, 3])
})

test('a deferred error of a lone work refuses it and leaves no transaction open', async () => {
  const queue = queueWith()
  await expect(queue.add(alice, (tx) => add(tx, 1, { parent_id: 99 }))).rejects.toThrow('FOREIGN KEY')
  expect(connection.raw.isTransaction).toBe(false)
})

/** A queue at work: what is added now waits until `go`. */
function busyQueue(limits: Partial<WriteQueueLimits> = {}) {
  const sync = Promise.withResolvers<void>()
  log.sync = () => sync.promise
  const queue = queueWith(limits)
  const order: string[] = []
  const enqueue = (name: string, isBackground = false) =>
    queue.add(
      alice,
      async (tx) => {
        order.push(name)
        await add(tx, 100 + order.length)
      },
      { isBackground },
    )
  const first = enqueue('first')
  return { queue, order, enqueue, first, go: sync.resolve }
}

test('a transaction in the background waits for those that came after it, and shares no commit with them', async () => {
  const { order, enqueue, first, go } = busyQueue()
  const waiting = [first]
  while (order.length === 0) await nextTurn()
  for (const name of ['a', 'b']) waiting.push(enqueue(name, true))
  for (const name of ['1', '2', '3']) waiting.push(enqueue(name))
  go()
  await Promise.all(waiting)
  expect(order).toEqual(['first', '1', '2', '3', 'a', 'b'])
  expect(batches).toEqual([1, 3, 2])
})

test('a transaction in the background has its turn after a few batches, one at a time', async () => {
  const { order, enqueue, first, go } = busyQueue({ maxBatch: 2, maxPassed: 2 })
  const waiting = [first]
  while (order.length === 0) await nextTurn()
  for (const name of ['a', 'b']) waiting.push(enqueue(name, true))
  for (const id of numbers(12)) waiting.push(enqueue(String(id)))
  go()
  await Promise.all(waiting)
  expect(order.join(' ')).toBe('first 1 2 3 4 a 5 6 7 8 9 b 10 11 12')
})

test('a transaction in the background that fails takes nobody along', async () => {
  const { queue, order, enqueue, first, go } = busyQueue()
  while (order.length === 0) await nextTurn()
  const failing = queue.add(
    alice,
    async (tx) => {
      await add(tx, 1)
      throw new Error('broken')
    },
    { isBackground: true },
  )
  const others = [first, enqueue('a', true), enqueue('b')]
  go()
  await expect(failing).rejects.toThrow('broken')
  await Promise.all(others)
  expect(order).toEqual(['first', 'b', 'a'])
  expect(ids()).not.toContain(1)
})

test('what waits in the background counts for the bound of the queue', async () => {
  const { order, enqueue, first, go } = busyQueue({ maxQueued: 2 })
  while (order.length === 0) await nextTurn()
  const waiting = [first, enqueue('a', true), enqueue('b')]
  await expect(enqueue('c')).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
  await expect(enqueue('d', true)).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
  go()
  await Promise.all(waiting)
})
