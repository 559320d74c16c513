import type {
  RtdbLockMode,
  RtdbOperation,
  RtdbOperationResult,
  RtdbPresenceChange,
  RtdbPush,
} from '@kith/protocol'
import { assertFileOptions } from '../realtime/base-url.ts'
import { endOf } from '../realtime/connection-lost.ts'
import { notify } from '../realtime/notify.ts'
import type { ConnectionState } from '../realtime/reconnecting-socket.ts'
import { Collection, type DatabaseCalls } from './collection.ts'
import { type AnswerTo, type DatabaseAddress, DatabaseSocket } from './database-socket.ts'
import { Locks } from './locks.ts'
import { noStore, openBrowserStore, type QueueStore } from './queue-store.ts'
import { Reads } from './reads.ts'
import { Subscriptions } from './subscriptions.ts'
import { TransactionQueue } from './transaction-queue.ts'

export interface DatabaseOptions extends DatabaseAddress {
  /** How long a read, a lock or the making of an index waits for a connection before it rejects, in ms; 10 000 when absent. Writes wait
   * for as long as it takes. */
  readonly timeoutMs?: number
  /** Whether a browser stores unsent transactions in IndexedDB, so that they survive a reload; true when absent. */
  readonly keepsQueue?: boolean
  readonly onState?: (state: DatabaseState) => void
  /** The server refused a transaction that was stored before a reload of the page, when its promise was lost. */
  readonly onRefused?: (error: Error, operations: readonly RtdbOperation[]) => void
  /** The presence of others has changed. Needs `hasPresence`. */
  readonly onPresence?: (change: RtdbPresenceChange) => void
}

/** `waiting`: the number of transactions that the server has not answered yet. */
export type DatabaseState = ConnectionState & { readonly waiting: number }

/** An open database. */
export interface ConnectedDatabase {
  readonly state: DatabaseState
  /** `Document` is the type of the documents, which is not checked at run time. Throws a `TypeError` unless `path` has an odd number
   * of segments. */
  collection<Document extends object = Record<string, unknown>>(path: string): Collection<Document>
  /** Does all operations, in order, or none. Waits for a connection, and is sent again when the connection breaks before the answer;
   * the server executes it once. Rejects with `RtdbError` when the server refuses it, `ConnectionLost` when the connection ends. */
  transaction(operations: readonly RtdbOperation[]): Promise<readonly RtdbOperationResult[]>
  /** Makes queries of a collection by this field faster. Resolves when the index is complete. */
  createIndex(path: string, field: string): Promise<void>
  /** Takes a lock on a path, and renews it until `unlock` or `close`. Resolves with `locked: false` when another client
   * holds one. After a reconnection the lock is requested again, and is lost when another client has taken it meanwhile. */
  lock(path: string, mode?: RtdbLockMode): Promise<AnswerTo<'lock'>>
  unlock(path: string): Promise<void>
  /** Sets what other clients see of this one; null removes it. Repeated after each reconnection. Throws a `TypeError` without the
   * option `hasPresence`. */
  setPresence(state: object | null): void
  /** Ends a delay before the next attempt to connect. Where there is a connection, asks the server whether it still is one. */
  reconnect(): void
  /** Closes the connection without reconnecting. Unsent transactions reject; a browser sends them when it opens the database again. */
  close(): void
  /** Closes the connection and deletes the unsent transactions, for signing out. */
  forget(): Promise<void>
}

/** Opens a database. Reconnects after each interruption; subscriptions then read their documents again. */
export function connectDatabase(options: DatabaseOptions): ConnectedDatabase {
  return new LiveDatabase(options)
}

class LiveDatabase implements ConnectedDatabase {
  readonly #options: DatabaseOptions
  readonly #socket: DatabaseSocket
  readonly #subscriptions = new Subscriptions(() => this.#socket)
  readonly #locks = new Locks(() => this.#socket)
  readonly #store: QueueStore
  readonly #queue: TransactionQueue
  readonly #calls: DatabaseCalls
  readonly #reads: Reads
  #presence: object | null = null

  constructor(options: DatabaseOptions) {
    assertFileOptions(options)
    this.#options = options
    this.#store = storeOf(options)
    this.#queue = new TransactionQueue({
      store: this.#store,
      send: ({ txId, operations }) => this.#socket.ask('transaction', { txId, operations: [...operations] }),
      onChange: () => this.#notifyState(),
      onRefused: (error, operations) => notify(options.onRefused, error, operations),
    })
    this.#socket = new DatabaseSocket(options, {
      opened: () => this.#onOpen(),
      pushed: (push) => this.#onPush(push),
      stateChanged: (state) => this.#onConnectionState(state),
    })
    this.#reads = new Reads({
      baseUrl: options.baseUrl,
      timeoutMs: options.timeoutMs ?? 10_000,
      state: () => this.#socket.state,
    })
    this.#calls = {
      get: async (path) => (await this.#reads.ask(() => this.#socket.ask('get', { path }))).data,
      query: async (query) => (await this.#reads.ask(() => this.#socket.ask('query', query))).data,
      watch: (request, watcher) => this.#subscriptions.watch(request, watcher),
      watchGroups: (request, listener, onError) =>
        this.#subscriptions.watchGroups(request, listener, onError),
      transact: (operations) => this.#queue.add(operations),
    }
  }

  get state(): DatabaseState {
    return { ...this.#socket.state, waiting: this.#queue.length }
  }

  collection<Document extends object = Record<string, unknown>>(path: string): Collection<Document> {
    return new Collection<Document>(this.#calls, path)
  }

  transaction(operations: readonly RtdbOperation[]): Promise<readonly RtdbOperationResult[]> {
    return this.#queue.add(operations)
  }

  async createIndex(path: string, field: string): Promise<void> {
    await this.#reads.ask(() => this.#socket.ask('createIndex', { path, field }))
  }

  lock(path: string, mode: RtdbLockMode = 'soft'): Promise<AnswerTo<'lock'>> {
    return this.#reads.ask(() => this.#locks.take(path, mode))
  }

  async unlock(path: string): Promise<void> {
    await this.#locks.release(path)
  }

  setPresence(state: object | null): void {
    if (!this.#options.hasPresence) throw new TypeError('setPresence needs the option hasPresence: true')
    // Throws for what JSON cannot represent.
    JSON.stringify(state)
    this.#presence = state
    this.#sendPresence()
  }

  reconnect(): void {
    this.#socket.reconnect()
  }

  close(): void {
    this.#socket.close()
  }

  async forget(): Promise<void> {
    this.close()
    await this.#store.clear()
  }

  async #onOpen(): Promise<void> {
    if (this.#presence !== null) this.#sendPresence()
    await Promise.all([this.#subscriptions.open(), this.#locks.open()])
    await this.#queue.open()
  }

  #onPush(push: RtdbPush): void {
    if (push.type === 'change') this.#subscriptions.push(push.subscriptionId, push.event)
    else notify(this.#options.onPresence, push.event)
  }

  #onConnectionState(state: ConnectionState): void {
    if (state.kind !== 'open') this.#queue.pause()
    if (state.kind === 'ended') {
      const error = endOf(state)
      this.#subscriptions.end(error)
      this.#locks.end()
      this.#queue.end(error)
    }
    this.#notifyState()
    this.#reads.stateChanged(state)
  }

  #notifyState(): void {
    notify(this.#options.onState, this.state)
  }

  #sendPresence(): void {
    const state = this.#presence as Record<string, unknown> | null
    this.#socket.ask('presence', { state }).catch(() => undefined)
  }
}

function storeOf({ baseUrl, fileId, keepsQueue = true }: DatabaseOptions): QueueStore {
  if (!keepsQueue || !('indexedDB' in globalThis)) return noStore
  return openBrowserStore(`kith ${new URL(baseUrl).host} ${fileId}`)
}
