import { maxMessageBytes } from '@kith/protocol'
import { expect, test, vi } from 'vitest'
import { ConnectionLost } from '../realtime/connection-lost.ts'
import { RtdbError } from './database-socket.ts'
import { noStore, type QueueStore } from './queue-store.ts'
import { type QueuedTransaction, TransactionQueue } from './transaction-queue.ts'

const operations = (path: string) => [{ type: 'delete', path }] as const
const done = { results: [{ ref: null, id: 'x' }] }

/** A store in memory, as a browser's lasts over reloads. */
function memoryStore(
  stored: QueuedTransaction[] = [],
): QueueStore & { readonly stored: QueuedTransaction[] } {
  return {
    stored,
    list: async () => [...stored],
    put: async (transaction) => void stored.push(transaction),
    remove: async ({ txId }) => {
      const at = stored.findIndex((one) => one.txId === txId)
      stored.splice(at, 1)
    },
    clear: async () => void stored.splice(0),
  }
}

function queueOf(
  send: (transaction: QueuedTransaction) => Promise<typeof done>,
  store: QueueStore = noStore,
): TransactionQueue {
  return new TransactionQueue({ store, send, onChange: () => undefined, onRefused: () => undefined })
}

test('waits for a connection, and sends one after the other', async () => {
  const sent: string[] = []
  let running = 0
  const queue = queueOf(async ({ operations: [operation] }) => {
    running += 1
    expect(running).toBe(1)
    sent.push(operation?.path ?? '')
    await Promise.resolve()
    running -= 1
    return done
  })
  const all = ['a/1', 'a/2', 'a/3'].map((path) => queue.add(operations(path)))
  await Promise.resolve()
  expect(sent).toEqual([])
  await queue.open()
  expect(await Promise.all(all)).toEqual([done.results, done.results, done.results])
  expect(sent).toEqual(['a/1', 'a/2', 'a/3'])
  expect(queue.length).toBe(0)
})

test('sends again under the same number what was not answered', async () => {
  const ids: string[] = []
  const queue = queueOf(async ({ txId }) => {
    ids.push(txId)
    if (ids.length === 1) throw new ConnectionLost('test')
    return done
  })
  await queue.open()
  const added = queue.add(operations('a/1'))
  await expect.poll(() => ids.length).toBe(1)
  await queue.open()
  expect(await added).toEqual(done.results)
  expect(ids[0]).toBe(ids[1])
})

test('a refusal is told to its caller, and the next one goes on', async () => {
  const queue = queueOf(async ({ operations: [operation] }) => {
    if (operation?.path === 'bad') throw new RtdbError({ code: 400, message: 'no' })
    return done
  })
  await queue.open()
  const bad = queue.add(operations('bad'))
  const good = queue.add(operations('a/1'))
  await expect(bad).rejects.toMatchObject({ code: 400 })
  expect(await good).toEqual(done.results)
})

test('what was stored by a page before goes first', async () => {
  const before = memoryStore()
  const closed = queueOf(async () => done, before)
  closed.add(operations('a/1')).catch(() => undefined)
  await expect.poll(() => before.stored.length).toBe(1)
  closed.end(new ConnectionLost('reload'))
  const sent: string[] = []
  const store = memoryStore(before.stored)
  const queue = queueOf(async ({ operations: [operation] }) => {
    sent.push(operation?.path ?? '')
    return done
  }, store)
  const added = queue.add(operations('a/2'))
  await queue.open()
  await added
  expect(sent).toEqual(['a/1', 'a/2'])
  expect(store.stored).toEqual([])
})

test('what waits is refused when the connection ends for good', async () => {
  const queue = queueOf(async () => done)
  const waiting = queue.add(operations('a/1'))
  await Promise.resolve()
  queue.end(new ConnectionLost('not found'))
  await expect(waiting).rejects.toThrow('not found')
})

test('what is being stored when the connection ends for good is refused to its caller alone', async () => {
  const unhandled: unknown[] = []
  const listener = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', listener)
  try {
    const putting = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const put = () => {
      reached.resolve()
      return putting.promise
    }
    const queue = queueOf(async () => done, { ...noStore, put })
    const added = queue.add(operations('a/1'))
    await reached.promise
    queue.end(new ConnectionLost('closed'))
    // Node reports unhandled rejections before the next macrotask.
    await new Promise((resolve) => setImmediate(resolve))
    putting.resolve()
    await expect(added).rejects.toThrow('closed')
    expect(unhandled).toEqual([])
  } finally {
    process.off('unhandledRejection', listener)
  }
})

test('what JSON cannot represent, or no message can carry, is refused before it is stored', async () => {
  const store = memoryStore()
  const queue = queueOf(async () => done, store)
  await queue.open()
  const create = (data: Record<string, unknown>) => queue.add([{ type: 'create', path: 'a', data }])
  await expect(create({ big: 1n })).rejects.toThrow(TypeError)
  await expect(create({ long: 'x'.repeat(maxMessageBytes) })).rejects.toMatchObject({ code: 413 })
  expect(store.stored).toEqual([])
  expect(await create({ small: 1 })).toEqual(done.results)
})

test('a stored transaction that is refused after a reload is told', async () => {
  const store = memoryStore([{ txId: 'x', at: 1, operations: operations('a/1') }])
  const refused: unknown[] = []
  const queue = new TransactionQueue({
    store,
    send: () => Promise.reject(new RtdbError({ code: 403, message: 'no' })),
    onChange: () => undefined,
    onRefused: (error, of) => refused.push([error, of]),
  })
  await queue.open()
  await expect.poll(() => store.stored).toEqual([])
  expect(refused).toMatchObject([[{ code: 403 }, operations('a/1')]])
})

test('works on pages over plain HTTP, where browsers have no `crypto.randomUUID`', async () => {
  const { crypto } = globalThis
  vi.stubGlobal('crypto', {
    getRandomValues: (array: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(array),
  })
  try {
    const ids: string[] = []
    const queue = queueOf(async ({ txId }) => {
      ids.push(txId)
      return done
    })
    await queue.open()
    await queue.add(operations('a/1'))
    await queue.add(operations('a/2'))
    expect(ids).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/)])
    expect(new Set(ids).size).toBe(2)
  } finally {
    vi.unstubAllGlobals()
  }
})
