import { openDB } from 'idb'
import type { QueuedTransaction } from './transaction-queue.ts'

/** Where transactions wait that no server has answered yet. */
export interface QueueStore {
  /** In the order in which they were put. */
  list(): Promise<readonly QueuedTransaction[]>
  put(transaction: QueuedTransaction): Promise<void>
  remove(transaction: QueuedTransaction): Promise<void>
}

/** Keeps nothing: what waits is gone with the page or the process. */
export const noStore: QueueStore = {
  list: async () => [],
  put: async () => undefined,
  remove: async () => undefined,
}

const table = 'transactions'

/** Keeps them in IndexedDB, over reloads of the page. A private window may have none: then nothing is kept. */
export function openBrowserStore(name: string): QueueStore {
  const opening = openDB(name, 1, {
    upgrade: (database) => void database.createObjectStore(table, { keyPath: ['at', 'txId'] }),
  })
  opening.catch(() => undefined)
  return {
    list: () => opening.then((database) => database.getAll(table)).catch(() => []),
    async put(transaction) {
      await opening.then((database) => database.put(table, transaction)).catch(() => undefined)
    },
    async remove({ at, txId }) {
      await opening.then((database) => database.delete(table, [at, txId])).catch(() => undefined)
    },
  }
}
