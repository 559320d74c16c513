import { maxMessageBytes, type RtdbOperation, type RtdbOperationResult } from '@kith/protocol'
import { randomId } from '../random-id.ts'
import { ConnectionLost } from '../realtime/connection-lost.ts'
import { type AnswerTo, RtdbError } from './database-socket.ts'
import type { QueueStore } from './queue-store.ts'

/** A transaction that the server has not answered yet. */
export interface QueuedTransaction {
  /** A random id. The server executes a transaction once for each `txId`, however often it is sent (for 24 hours). */
  readonly txId: string
  /** When it was added, in Unix ms; raised where needed, so that it grows from one transaction to the next. */
  readonly at: number
  readonly operations: readonly RtdbOperation[]
}

type Results = readonly RtdbOperationResult[]

interface Waiting {
  readonly transaction: QueuedTransaction
  readonly resolve?: (results: Results) => void
  readonly reject?: (error: unknown) => void
}

interface QueueOptions {
  readonly store: QueueStore
  readonly send: (transaction: QueuedTransaction) => Promise<AnswerTo<'transaction'>>
  readonly onChange: () => void
  /** A transaction of the store was refused: it has no promise. */
  readonly onRefused: (error: Error, operations: readonly RtdbOperation[]) => void
}

// Bounds the memory of a client that is offline; further transactions are rejected.
const maxWaiting = 10_000

/** Sends transactions one at a time, in order. Without a connection they wait. */
export class TransactionQueue {
  readonly #options: QueueOptions
  #waiting: Waiting[] = []
  #lastAt = 0
  #endedBy: ConnectionLost | undefined
  #isSending = false
  #isOpen = false
  #restoring: Promise<void> | undefined

  constructor(options: QueueOptions) {
    this.#options = options
    this.#restoring = this.#restore()
  }

  get length(): number {
    return this.#waiting.length
  }

  /** Adds a transaction. Resolves with its results once the server has stored it. Rejects with `RtdbError` when the server refuses it,
   * and with `ConnectionLost` when the queue has ended. */
  async add(operations: readonly RtdbOperation[]): Promise<Results> {
    // A copy: the caller may change its objects while the transaction waits.
    const copy = copyOf(operations)
    await this.#restoring
    if (this.#endedBy) throw this.#endedBy
    if (this.#waiting.length >= maxWaiting) throw new Error('too many transactions wait for a connection')
    this.#lastAt = Math.max(this.#lastAt + 1, Date.now())
    const transaction = { txId: randomId(), at: this.#lastAt, operations: copy }
    const { promise, resolve, reject } = Promise.withResolvers<Results>()
    // The queue may end before `put` returns, when nobody has the promise yet: without a handler that is an unhandled rejection.
    promise.catch(() => undefined)
    this.#waiting.push({ transaction, resolve, reject })
    this.#options.onChange()
    await this.#options.store.put(transaction)
    void this.#sendAll()
    return promise
  }

  /** Starts sending: there is a connection. */
  async open(): Promise<void> {
    this.#isOpen = true
    await this.#restoring
    void this.#sendAll()
  }

  /** Stops sending: there is no connection. */
  pause(): void {
    this.#isOpen = false
  }

  /** Rejects all waiting transactions. Those in the store stay there, for the next time the database is opened. */
  end(error: ConnectionLost): void {
    this.pause()
    this.#endedBy = error
    for (const { reject } of this.#waiting.splice(0)) reject?.(error)
    this.#options.onChange()
  }

  async #restore(): Promise<void> {
    const stored = await this.#options.store.list()
    this.#waiting.unshift(...stored.map((transaction) => ({ transaction })))
    this.#restoring = undefined
    if (stored.length > 0) this.#options.onChange()
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    try {
      for (let next = this.#next(); next; next = this.#next()) if (!(await this.#sendOne(next))) return
    } finally {
      this.#isSending = false
    }
  }

  #next(): Waiting | undefined {
    return this.#isOpen ? this.#waiting[0] : undefined
  }

  /** Sends one transaction and settles its promise. False when the connection broke: it stays first in the queue. */
  async #sendOne(waiting: Waiting): Promise<boolean> {
    const { transaction, resolve, reject } = waiting
    const outcome = await this.#options.send(transaction).then(
      ({ results }) => ({ results }),
      (error: unknown) => ({ error }),
    )
    if ('error' in outcome && outcome.error instanceof ConnectionLost) {
      this.pause()
      return false
    }
    this.#waiting = this.#waiting.filter((other) => other !== waiting)
    await this.#options.store.remove(transaction)
    this.#options.onChange()
    if ('error' in outcome) {
      if (reject) reject(outcome.error)
      else this.#options.onRefused(outcome.error as Error, transaction.operations)
    } else resolve?.(outcome.results)
    return true
  }
}

// The other members of the message.
const envelopeBytes = 1024

/** Throws a `TypeError` for what JSON cannot represent, and `RtdbError` 413 for more than a message may have: the server would close
 * the connection, and a stored transaction would do so after each reload. */
function copyOf(operations: readonly RtdbOperation[]): readonly RtdbOperation[] {
  const json = JSON.stringify(operations)
  if (new TextEncoder().encode(json).length > maxMessageBytes - envelopeBytes)
    throw new RtdbError({ code: 413, message: 'the transaction is longer than a message may be' })
  return JSON.parse(json) as readonly RtdbOperation[]
}
