import { type IDBPDatabase, openDB } from 'idb'
import type { QueuedTransaction } from './transaction-queue.ts'

/** Storage for transactions that the server has not answered yet. */
export interface QueueStore {
  /** In ascending order of `at`. */
  list(): Promise<readonly QueuedTransaction[]>
  put(transaction: QueuedTransaction): Promise<void>
  remove(transaction: QueuedTransaction): Promise<void>
  /** Removes all transactions. */
  clear(): Promise<void>
}

/** Stores nothing: unsent transactions are lost when the page or the process ends. */
export const noStore: QueueStore = {
  list: async () => [],
  put: async () => undefined,
  remove: async () => undefined,
  clear: async () => undefined,
}

const table = 'transactions'

/** Stores transactions in IndexedDB, where they survive reloads of the page. Where IndexedDB fails (sandboxed frames, some private windows, a full disk)
 * nothing is stored. */
export function openBrowserStore(name: string): QueueStore {
  const opening = openDatabase(name)
  opening.catch(() => undefined)
  return {
    list: () => opening.then((database) => database.getAll(table)).catch(() => []),
    async put(transaction) {
      await opening.then((database) => database.put(table, transaction)).catch(() => undefined)
    },
    async remove({ at, txId }) {
      await opening.then((database) => database.delete(table, [at, txId])).catch(() => undefined)
    },
    async clear() {
      const database = await opening.catch(() => undefined)
      await database?.clear(table)
    },
  }
}

/** Rejects where IndexedDB throws at once, as in sandboxed frames, too. */
async function openDatabase(name: string): Promise<IDBPDatabase> {
  return await openDB(name, 1, {
    upgrade: (database) => void database.createObjectStore(table, { keyPath: ['at', 'txId'] }),
  })
}
