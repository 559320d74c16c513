import type {
  RtdbLockMode,
  RtdbOperation,
  RtdbOperationResult,
  RtdbPresenceChange,
  RtdbPush,
} from '@kith/protocol'
import type { ConnectionState } from '../realtime/reconnecting-socket.ts'
import { Collection, type DatabaseCalls } from './collection.ts'
import { type AnswerTo, ConnectionLost, type DatabaseAddress, DatabaseSocket } from './database-socket.ts'
import { Locks } from './locks.ts'
import { noStore, openBrowserStore } from './queue-store.ts'
import { Subscriptions } from './subscriptions.ts'
import { TransactionQueue } from './transaction-queue.ts'

export interface DatabaseOptions extends DatabaseAddress {
  /** Whether browsers keep transactions that wait over reloads of the page; they do unless told otherwise. */
  readonly keepsQueue?: boolean
  readonly onState?: (state: DatabaseState) => void
  /** Others come, go, and change what they show; with `hasPresence`. */
  readonly onPresence?: (change: RtdbPresenceChange) => void
}

/** `waiting`: transactions that the server has not answered yet. */
export type DatabaseState = ConnectionState & { readonly waiting: number }

/** A real-time database, whose queries are kept up to date. */
export interface ConnectedDatabase {
  readonly state: DatabaseState
  /** `Document` says what its documents look like; nobody checks that. */
  collection<Document extends object>(path: string): Collection<Document>
  /** All or nothing, in order. Waits while there is no connection, is sent again when an answer does not come, and done
   * once. Rejects with `RtdbError` when the server refuses it. */
  transaction(operations: readonly RtdbOperation[]): Promise<readonly RtdbOperationResult[]>
  createIndex(path: string, field: string): Promise<void>
  /** Held until it is released or the database is closed, also over interruptions unless another took it meanwhile. */
  lock(path: string, mode?: RtdbLockMode): Promise<AnswerTo<'lock'>>
  unlock(path: string): Promise<void>
  /** What the others are shown; null: nothing. */
  setPresence(state: object | null): void
  close(): void
}

/** Opens a database: reconnects after each interruption, and reads anew what is watched. */
export function connectDatabase(options: DatabaseOptions): ConnectedDatabase {
  return new LiveDatabase(options)
}

class LiveDatabase implements ConnectedDatabase {
  readonly #options: DatabaseOptions
  readonly #socket: DatabaseSocket
  readonly #subscriptions = new Subscriptions(() => this.#socket)
  readonly #locks = new Locks(() => this.#socket)
  readonly #queue: TransactionQueue
  readonly #calls: DatabaseCalls
  // Bound: what the caller reads while there is no connection.
  readonly #opening = new Set<() => void>()
  #presence: object | null = null
  #connection: ConnectionState = { kind: 'connecting' }

  constructor(options: DatabaseOptions) {
    this.#options = options
    this.#queue = new TransactionQueue({
      store: storeOf(options),
      send: ({ txId, operations }) => this.#socket.ask('transaction', { txId, operations: [...operations] }),
      onChange: () => this.#show(),
    })
    this.#socket = new DatabaseSocket(options, {
      opened: () => this.#open(),
      pushed: (push) => this.#take(push),
      stateChanged: (state) => this.#change(state),
    })
    this.#calls = {
      get: async (path) => (await this.#read(() => this.#socket.ask('get', { path }))).data,
      query: async (query) => (await this.#read(() => this.#socket.ask('query', query))).data,
      watch: (request, watcher) => this.#subscriptions.watch(request, watcher),
      watchGroups: (request, listener, onError) =>
        this.#subscriptions.watchGroups(request, listener, onError),
      transact: (operations) => this.#queue.add(operations),
    }
  }

  get state(): DatabaseState {
    return { ...this.#connection, waiting: this.#queue.length }
  }

  collection<Document extends object>(path: string): Collection<Document> {
    return new Collection<Document>(this.#calls, path.replace(/^\/+|\/+$/g, ''))
  }

  transaction(operations: readonly RtdbOperation[]): Promise<readonly RtdbOperationResult[]> {
    return this.#queue.add(operations)
  }

  async createIndex(path: string, field: string): Promise<void> {
    await this.#read(() => this.#socket.ask('createIndex', { path, field }))
  }

  lock(path: string, mode: RtdbLockMode = 'soft'): Promise<AnswerTo<'lock'>> {
    return this.#read(() => this.#locks.take(path, mode))
  }

  async unlock(path: string): Promise<void> {
    await this.#locks.release(path)
  }

  setPresence(state: object | null): void {
    this.#presence = state
    this.#tellPresence()
  }

  close(): void {
    this.#socket.close()
  }

  async #open(): Promise<void> {
    if (this.#presence !== null) this.#tellPresence()
    await Promise.all([this.#subscriptions.open(), this.#locks.open()])
    await this.#queue.open()
  }

  #take(push: RtdbPush): void {
    if (push.type === 'change') this.#subscriptions.push(push.subscriptionId, push.event)
    else this.#options.onPresence?.(push.event)
  }

  #change(state: ConnectionState): void {
    this.#connection = state
    if (state.kind !== 'open') this.#queue.pause()
    if (state.kind === 'ended') {
      this.#subscriptions.end(new ConnectionLost(state.reason))
      this.#locks.end()
      this.#queue.end(state.reason)
    }
    this.#show()
    if (state.kind !== 'connecting') for (const wake of [...this.#opening]) wake()
  }

  #show(): void {
    this.#options.onState?.(this.state)
  }

  #tellPresence(): void {
    const state = this.#presence as Record<string, unknown> | null
    this.#socket.ask('presence', { state }).catch(() => undefined)
  }

  /** Reads may be repeated, so they wait for a connection and survive its end. */
  async #read<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      await this.#connected()
      try {
        return await ask()
      } catch (error) {
        if (!(error instanceof ConnectionLost) || this.#connection.kind === 'ended') throw error
      }
    }
  }

  #connected(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const wake = () => {
      const state = this.#connection
      if (state.kind === 'connecting') return
      this.#opening.delete(wake)
      if (state.kind === 'ended') reject(new ConnectionLost(state.reason))
      else resolve()
    }
    this.#opening.add(wake)
    wake()
    return promise
  }
}

function storeOf({ baseUrl, fileId, keepsQueue = true }: DatabaseOptions) {
  if (!keepsQueue || !('indexedDB' in globalThis)) return noStore
  return openBrowserStore(`kith ${new URL(baseUrl).host} ${fileId}`)
}
