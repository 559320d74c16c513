import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Logger } from '#infra/telemetry/index.ts'
import type { EngineAnswers, EngineRequest } from './worker-messages.ts'

export interface ThreadOptions {
  readonly logger: Pick<Logger, 'warn'>
  readonly maxThreads?: number
  /** For one request, in real time. The largest documents take some seconds. */
  readonly timeLimitMs?: number
  readonly heapMegabytes?: number
}

/** The thread ended before it answered. `isSuspect`: while it was at work on this very request. */
export class ThreadDied extends Error {
  readonly isSuspect: boolean

  constructor(isSuspect: boolean) {
    super('the thread of the document has ended')
    this.name = 'ThreadDied'
    this.isSuspect = isSuspect
  }
}

// More of them would only take processors from the loop that serves all else.
const mostThreads = 4
// A document of 64 MiB in small pieces takes some hundred megabytes.
const defaultHeapMegabytes = 1536
const defaultTimeLimitMs = 20_000
const idleMs = 30_000

/** Documents in threads: what they read was sent by strangers, and must not stop the process. */
export class DocumentThreads {
  readonly #options: ThreadOptions
  readonly #threads: DocumentThread[] = []
  readonly #most: number
  #lastDoc = 0

  constructor(options: ThreadOptions) {
    this.#options = options
    this.#most = options.maxThreads ?? Math.max(1, Math.min(mostThreads, availableParallelism() - 1))
  }

  /** Opens a document in the thread that has the fewest. */
  async open(
    pieces: readonly Uint8Array[],
  ): Promise<{ readonly held: HeldDocument; readonly damaged: readonly number[] }> {
    const thread = this.#choose()
    this.#lastDoc += 1
    const held = new HeldDocument(thread, this.#lastDoc)
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

  #choose(): DocumentThread {
    const alive = this.#threads.filter(({ isAlive }) => isAlive)
    const free = alive.sort((one, other) => one.documents - other.documents)[0]
    if (free && (free.documents === 0 || alive.length >= this.#most)) return free
    const started = new DocumentThread(this.#options)
    this.#threads.splice(0, this.#threads.length, ...alive, started)
    return started
  }
}

type Asked = EngineRequest extends infer Request
  ? Request extends EngineRequest
    ? Omit<Request, 'doc'>
    : never
  : never

/** A document in a thread. */
export class HeldDocument {
  readonly #thread: DocumentThread
  readonly #doc: number
  #isReleased = false

  constructor(thread: DocumentThread, doc: number) {
    this.#thread = thread
    this.#doc = doc
    thread.documents += 1
  }

  get isAlive(): boolean {
    return this.#thread.isAlive && !this.#isReleased
  }

  /** Throws `ThreadDied`. */
  ask<Request extends Asked>(request: Request): Promise<EngineAnswers[Request['kind']]> {
    return this.#thread.ask({ ...request, doc: this.#doc } as EngineRequest) as Promise<
      EngineAnswers[Request['kind']]
    >
  }

  /** Lets the thread forget it. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#thread.documents -= 1
    if (this.#thread.isAlive) this.ask({ kind: 'close' }).catch(() => undefined)
  }
}

interface Unanswered {
  readonly id: number
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: ThreadDied) => void
}

class DocumentThread {
  documents = 0
  isAlive = true
  readonly #worker: Worker
  readonly #options: ThreadOptions
  // In the order in which the thread answers. Bound: each open document asks one thing after the other.
  readonly #unanswered: Unanswered[] = []
  #lastId = 0
  #watchdog: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
    this.#worker = new Worker(new URL('./document-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: options.heapMegabytes ?? defaultHeapMegabytes },
      execArgv: [],
      env: {},
    })
    this.#worker.unref()
    this.#worker.on('message', ({ id, answer }: { id: number; answer: unknown }) => this.#take(id, answer))
    this.#worker.on('error', (error) => this.#died(error))
    this.#worker.once('exit', () => this.#died(undefined))
  }

  ask(request: EngineRequest): Promise<unknown> {
    if (!this.isAlive) return Promise.reject(new ThreadDied(false))
    clearTimeout(this.#idle)
    this.#lastId += 1
    const id = this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#unanswered.push({ id, resolve, reject })
    // While something is asked the process stays.
    if (this.#unanswered.length === 1) {
      this.#worker.ref()
      this.#watch()
    }
    this.#worker.postMessage({ id, request })
    return promise
  }

  async end(): Promise<void> {
    this.isAlive = false
    clearTimeout(this.#idle)
    await this.#worker.terminate()
    this.#died(undefined)
  }

  #take(id: number, answer: unknown): void {
    const [first] = this.#unanswered
    if (first?.id !== id) return
    this.#unanswered.shift()
    clearTimeout(this.#watchdog)
    if (this.#unanswered.length > 0) this.#watch()
    else this.#rest()
    first.resolve(answer)
  }

  #rest(): void {
    // While it ends the process has to stay: something waits for that.
    if (!this.isAlive) return
    this.#worker.unref()
    this.#idle = setTimeout(() => {
      if (this.documents === 0) void this.end()
    }, idleMs).unref()
  }

  #watch(): void {
    const limitMs = this.#options.timeLimitMs ?? defaultTimeLimitMs
    this.#watchdog = setTimeout(() => {
      this.#died(new Error('it does not answer'))
      void this.#worker.terminate()
    }, limitMs)
  }

  #died(error: unknown): void {
    const unanswered = this.#unanswered.splice(0)
    if (this.isAlive) this.#options.logger.warn({ err: error }, 'a thread of documents has ended')
    this.isAlive = false
    clearTimeout(this.#watchdog)
    clearTimeout(this.#idle)
    for (const [at, { reject }] of unanswered.entries()) reject(new ThreadDied(at === 0))
  }
}
