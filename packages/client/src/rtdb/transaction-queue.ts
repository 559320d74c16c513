import type { RtdbOperation, RtdbOperationResult } from '@kith/protocol'
import { type AnswerTo, ConnectionLost } from './database-socket.ts'
import type { QueueStore } from './queue-store.ts'

/** A transaction that waits, or whose answer has not come. */
export interface QueuedTransaction {
  /** The server does a transaction with one `txId` once, however often it is sent. */
  readonly txId: string
  /** Its place in the order, milliseconds. */
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
}

// What somebody does offline in a long day; more is refused, so that memory has a bound.
const maxWaiting = 10_000

/** Transactions in their order, one after the other; while there is no connection they wait. */
export class TransactionQueue {
  readonly #options: QueueOptions
  #waiting: Waiting[] = []
  #lastAt = 0
  #endedBy: string | undefined
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

  /** Resolves when it is done and durable, also after interruptions. */
  async add(operations: readonly RtdbOperation[]): Promise<Results> {
    await this.#restoring
    if (this.#endedBy !== undefined) throw new ConnectionLost(this.#endedBy)
    if (this.#waiting.length >= maxWaiting) throw new Error('too many transactions wait for a connection')
    this.#lastAt = Math.max(this.#lastAt + 1, Date.now())
    const transaction = { txId: crypto.randomUUID(), at: this.#lastAt, operations }
    const { promise, resolve, reject } = Promise.withResolvers<Results>()
    this.#waiting.push({ transaction, resolve, reject })
    this.#options.onChange()
    await this.#options.store.put(transaction)
    void this.#sendAll()
    return promise
  }

  /** There is a connection. */
  async open(): Promise<void> {
    this.#isOpen = true
    await this.#restoring
    void this.#sendAll()
  }

  pause(): void {
    this.#isOpen = false
  }

  /** Nothing will be sent any more; what is stored stays for the next time. */
  end(reason: string): void {
    this.pause()
    this.#endedBy = reason
    for (const { reject } of this.#waiting.splice(0)) reject?.(new ConnectionLost(reason))
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

  /** False when the connection broke: it is sent again on the next one. */
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
    if ('error' in outcome) reject?.(outcome.error)
    else resolve?.(outcome.results)
    return true
  }
}
