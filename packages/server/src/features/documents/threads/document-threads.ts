import { availableParallelism } from 'node:os'
import type { TenantId } from '#infra/db/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { DocumentThread } from './document-thread.ts'
import { HeldDocument } from './held-document.ts'
import { TenantWork } from './tenant-work.ts'
import { defaultLimits, isSlowToRead, type ThreadLimits } from './thread-limits.ts'

export interface ThreadsOptions {
  readonly logger: Pick<Logger, 'warn'>
  /** Besides the one for slow documents. */
  readonly maxThreads?: number
  readonly limits?: Partial<ThreadLimits>
}

/** A document that is to be opened. */
export interface Opening {
  readonly tenantId: TenantId
  /** A state first, if there is one, then updates. */
  readonly pieces: readonly Uint8Array[]
  /** What opening it took before, in milliseconds of a processor. */
  readonly expectedMs: number
  /** Is it known to take more than its share of a thread? */
  readonly isSlow: boolean
}

// More would compete with the main thread for processors.
const mostThreads = 3

/** Runs documents in threads: a hostile document must not block the process. Slow documents share a thread of their own, so
 * that others do not wait for them. */
export class DocumentThreads {
  readonly #limits: ThreadLimits
  readonly #logger: Pick<Logger, 'warn'>
  readonly #work = new TenantWork()
  readonly #most: number
  // Bound: `#most`, the slow one, and those that end.
  #threads: readonly DocumentThread[] = []
  #lastDoc = 0

  constructor({ logger, maxThreads, limits }: ThreadsOptions) {
    this.#logger = logger
    this.#limits = { ...defaultLimits, ...limits }
    this.#most = maxThreads ?? Math.max(1, Math.min(mostThreads, availableParallelism() - 1))
  }

  /** Opens a document in the thread that has the fewest, or in the one for slow documents. Throws `ThreadDied`. */
  async open(
    opening: Opening,
  ): Promise<{ readonly held: HeldDocument; readonly damaged: readonly number[] }> {
    const { tenantId, pieces, expectedMs } = opening
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
    const isSlow = opening.isSlow || isSlowToRead(bytes, expectedMs) || this.#work.isApart(tenantId)
    this.#lastDoc += 1
    const held = new HeldDocument(isSlow ? this.#slowThread() : this.#sharedThread(), {
      doc: this.#lastDoc,
      work: this.#work,
      limits: this.#limits,
      ...{ tenantId, expectedMs, bytes },
    })
    try {
      const { damaged } = await held.ask({ kind: 'open', pieces })
      return { held, damaged }
    } catch (error) {
      held.release()
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()))
  }

  #slowThread(): DocumentThread {
    return this.#alive.find(({ isSlow }) => isSlow) ?? this.#start(true)
  }

  #sharedThread(): DocumentThread {
    const shared = this.#alive.filter(({ isSlow }) => !isSlow)
    const [fewest] = shared.toSorted((one, other) => one.documents - other.documents)
    if (fewest && (fewest.documents === 0 || shared.length >= this.#most)) return fewest
    return this.#start(false)
  }

  #start(isSlow: boolean): DocumentThread {
    const { slowHeapMegabytes, sharedHeapMegabytes } = this.#limits
    const heapMegabytes = isSlow ? slowHeapMegabytes : sharedHeapMegabytes
    const thread = new DocumentThread({ logger: this.#logger, work: this.#work, isSlow, heapMegabytes })
    this.#threads = [...this.#alive, thread]
    return thread
  }

  get #alive(): readonly DocumentThread[] {
    return this.#threads.filter(({ isAlive }) => isAlive)
  }
}
