import { Worker } from 'node:worker_threads'
import type { TenantId } from '#infra/db/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import type { TenantWork } from './tenant-work.ts'
import type { EngineRequest, ThreadMessage } from './worker-messages.ts'

/** The thread ended before it answered. */
export class ThreadDied extends Error {
  /** Did it end while it was at work on this very request? */
  readonly isSuspect: boolean
  /** Was it the thread for slow documents? */
  readonly wasSlow: boolean
  /** Has the request taken longer than it may? */
  readonly isTooLong: boolean

  constructor(how: { isSuspect: boolean; wasSlow: boolean; isTooLong: boolean }) {
    super('the thread of the document has ended')
    this.name = 'ThreadDied'
    this.isSuspect = how.isSuspect
    this.wasSlow = how.wasSlow
    this.isTooLong = how.isTooLong
  }
}

/** The library failed on a request for this document. */
export class RequestFailed extends Error {}

interface ThreadOptions {
  readonly logger: Pick<Logger, 'warn'>
  readonly work: TenantWork
  readonly isSlow: boolean
  readonly heapMegabytes: number
}

/** What a thread is asked. */
export interface ThreadQuestion {
  readonly request: EngineRequest
  readonly tenantId: TenantId
  /** Processor time. */
  readonly limitMs: number
}

interface Asked extends ThreadQuestion {
  readonly resolve: (answered: Answered) => void
  readonly reject: (error: ThreadDied | RequestFailed) => void
}

export interface Answered {
  readonly answer: unknown
  /** Processor time. */
  readonly usedMs: number
}

const idleMs = 30_000
// Wall time, for a thread that does not even report its processor time.
const mostRealMs = 60_000
const lookAgainMs = 20

/** A thread with documents, with a limit on the processor time of each request. The one for slow documents processes one
 * request at a time, next that of the tenant which has used the least. */
export class DocumentThread {
  documents = 0
  readonly isSlow: boolean
  readonly #worker: Worker
  readonly #options: ThreadOptions
  // Both are bounded: each open document has one request at a time.
  readonly #waiting: Asked[] = []
  readonly #posted: Asked[] = []
  #isAlive = true
  #isReady = false
  /** Of the thread, until its last answer. */
  #processorMs = 0
  #beganAtMs = 0
  #watchdog: NodeJS.Timeout | undefined
  #pause: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
    this.isSlow = options.isSlow
    this.#worker = new Worker(new URL('./document-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: options.heapMegabytes },
      execArgv: [],
      env: {},
    })
    this.#worker.unref()
    this.#worker.on('message', (message: ThreadMessage) => this.#take(message))
    this.#worker.on('error', (error) => this.#died(error))
    this.#worker.once('exit', () => this.#died(undefined))
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  ask(question: ThreadQuestion): Promise<Answered> {
    const { promise, resolve, reject } = Promise.withResolvers<Answered>()
    if (!this.#isAlive) {
      reject(this.#death({ isSuspect: false, isTooLong: false }))
      return promise
    }
    clearTimeout(this.#idle)
    this.#waiting.push({ ...question, resolve, reject })
    // The process stays alive while a request is under way.
    this.#worker.ref()
    this.#post()
    return promise
  }

  async end(): Promise<void> {
    this.#isAlive = false
    clearTimeout(this.#idle)
    await this.#worker.terminate()
    this.#died(undefined)
  }

  #post(): void {
    if (this.isSlow && this.#posted.length > 0) return
    const next = this.isSlow ? this.#takeFairest() : this.#waiting.shift()
    if (!next) return
    this.#posted.push(next)
    if (this.#posted.length === 1) this.#watch()
    this.#worker.postMessage(next.request)
  }

  #takeFairest(): Asked | undefined {
    const { work } = this.#options
    clearTimeout(this.#pause)
    const usedMs = ({ tenantId }: Asked) => work.usedMs(tenantId)
    const least = this.#waiting.reduce<Asked | undefined>(
      (best, asked) => (best && usedMs(best) <= usedMs(asked) ? best : asked),
      undefined,
    )
    if (!least) return undefined
    const waitMs = work.waitMs(least.tenantId)
    if (waitMs === 0) return this.#waiting.splice(this.#waiting.indexOf(least), 1)[0]
    this.#pause = setTimeout(() => this.#post(), waitMs + 1)
    return undefined
  }

  #take({ answer, error, processorMs }: ThreadMessage): void {
    const usedMs = processorMs - this.#processorMs
    this.#processorMs = processorMs
    clearTimeout(this.#watchdog)
    if (this.#isReady) {
      const asked = this.#posted.shift()
      if (asked) this.#options.work.note(asked.tenantId, usedMs)
      if (error === undefined) asked?.resolve({ answer, usedMs })
      else asked?.reject(new RequestFailed(error))
    }
    this.#isReady = true
    if (this.#posted.length > 0) this.#watch()
    this.#post()
    if (this.#posted.length + this.#waiting.length === 0) this.#rest()
  }

  #rest(): void {
    // An ending thread keeps the process alive: its end is awaited.
    if (!this.#isAlive) return
    this.#worker.unref()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      if (this.documents === 0) void this.end()
    }, idleMs).unref()
  }

  /** Starts the time of the first request, once the thread is ready. */
  #watch(): void {
    const [first] = this.#posted
    if (!first) return
    this.#beganAtMs = performance.now()
    this.#lookIn(this.#isReady ? first.limitMs : mostRealMs)
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#watchdog)
    this.#watchdog = setTimeout(() => void this.#look(), ms)
  }

  /** Wall time says little on a busy machine: the limit is of processor time. */
  async #look(): Promise<void> {
    const [asked] = this.#posted
    if (!asked) return
    if (performance.now() - this.#beganAtMs >= mostRealMs + asked.limitMs) {
      this.#giveUp()
      return
    }
    this.#lookIn(mostRealMs)
    const { user, system } = await this.#worker.cpuUsage().catch(() => ({ user: 0, system: 0 }))
    if (this.#posted[0] !== asked) return
    const leftMs = asked.limitMs - ((user + system) / 1000 - this.#processorMs)
    if (leftMs <= 0) this.#giveUp()
    else this.#lookIn(Math.max(lookAgainMs, leftMs))
  }

  #giveUp(): void {
    const [asked] = this.#posted
    if (asked) this.#options.work.note(asked.tenantId, asked.limitMs)
    this.#died(new Error('it does not answer'), true)
    void this.#worker.terminate()
  }

  #died(error: unknown, isTooLong = false): void {
    if (this.#isAlive) this.#options.logger.warn({ err: error }, 'a thread of documents has ended')
    this.#isAlive = false
    for (const timer of [this.#watchdog, this.#pause, this.#idle]) clearTimeout(timer)
    for (const [at, { reject }] of this.#posted.splice(0).entries())
      reject(this.#death({ isSuspect: at === 0, isTooLong: at === 0 && isTooLong }))
    for (const { reject } of this.#waiting.splice(0))
      reject(this.#death({ isSuspect: false, isTooLong: false }))
  }

  #death(how: { isSuspect: boolean; isTooLong: boolean }): ThreadDied {
    return new ThreadDied({ ...how, wasSlow: this.isSlow })
  }
}
