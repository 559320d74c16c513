import { deleteDB, type IDBPDatabase, openDB } from 'idb'
import * as Y from 'yjs'

/** A copy of a document in IndexedDB. */
export interface LocalCopy {
  /** Resolves when the copy has been applied to the document: true if there was one. */
  readonly loaded: Promise<boolean>
  /** Whether this copy applied an update with this origin. */
  isOrigin(origin: unknown): boolean
  /** Stops storing changes. */
  close(): Promise<void>
  /** Stops storing changes, and deletes the copy. */
  remove(): Promise<void>
}

interface LocalCopyOptions {
  readonly baseUrl: string
  readonly fileId: string
  readonly keepsLocalCopy?: boolean
}

const none: LocalCopy = {
  loaded: Promise.resolve(false),
  isOrigin: () => false,
  close: async () => undefined,
  remove: async () => undefined,
}

/** Loads the copy of a document from IndexedDB, and stores each change there. Where IndexedDB is missing or cannot be opened (Node,
 * sandboxed frames, some private windows) nothing is stored. */
export function openLocalCopy(
  { baseUrl, fileId, keepsLocalCopy = true }: LocalCopyOptions,
  doc: Y.Doc,
): LocalCopy {
  if (!keepsLocalCopy || !('indexedDB' in globalThis)) return none
  return new IndexedCopy(`kith ${new URL(baseUrl).host} ${fileId}`, doc)
}

const table = 'updates'
// Loading reads every update; merging them writes the whole document.
const mergeAfterUpdates = 500

class IndexedCopy implements LocalCopy {
  readonly loaded: Promise<boolean>
  readonly #name: string
  readonly #doc: Y.Doc
  readonly #opening: Promise<IDBPDatabase | undefined>
  #updates = 0
  #isClosed = false

  constructor(name: string, doc: Y.Doc) {
    this.#name = name
    this.#doc = doc
    this.#opening = openDatabase(name).catch(() => undefined)
    if (doc.store.clients.size > 0) void this.#store(Y.encodeStateAsUpdate(doc))
    doc.on('update', this.#onUpdate)
    this.loaded = this.#load().catch(() => false)
  }

  isOrigin(origin: unknown): boolean {
    return origin === this
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#doc.off('update', this.#onUpdate)
    const database = await this.#opening
    database?.close()
  }

  async remove(): Promise<void> {
    await this.close()
    if (await this.#opening) await deleteDB(this.#name)
  }

  async #load(): Promise<boolean> {
    const database = await this.#opening
    const updates: readonly Uint8Array[] = (await database?.getAll(table)) ?? []
    if (this.#isClosed) return false
    this.#updates = updates.length
    const apply = () => {
      for (const update of updates) Y.applyUpdate(this.#doc, update, this)
    }
    Y.transact(this.#doc, apply, this, false)
    return updates.length > 0
  }

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (origin !== this) void this.#store(update)
  }

  async #store(update: Uint8Array): Promise<void> {
    const database = await this.#opening
    if (!database) return
    try {
      await database.add(table, update)
      this.#updates += 1
      if (this.#updates >= mergeAfterUpdates) await this.#merge(database)
    } catch {
      // The disk is full, or another tab has deleted the copy: the document goes on without one.
    }
  }

  /** Replaces all updates by one, with those that other tabs have stored. */
  async #merge(database: IDBPDatabase): Promise<void> {
    this.#updates = 1
    const transaction = database.transaction(table, 'readwrite')
    const updates: readonly Uint8Array[] = await transaction.store.getAll()
    await transaction.store.clear()
    await transaction.store.add(Y.mergeUpdates([...updates]))
    await transaction.done
  }
}

/** Rejects where IndexedDB throws at once, as in sandboxed frames, too. */
async function openDatabase(name: string): Promise<IDBPDatabase> {
  const opening = openDB(name, 1, {
    upgrade: (database) => void database.createObjectStore(table, { autoIncrement: true }),
    // Another tab deletes the copy, which waits until every connection is closed.
    blocking: () => void opening.then((database) => database.close()),
  })
  return await opening
}
