import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Logger } from '#infra/telemetry/index.ts'

/** Pages of log after which they are copied into the file, estimated: a changed row takes about one, a commit two more. */
const pagesPerCheckpoint = 4000
const pagesPerCommit = 2
/** At most so many pages are copied while writers wait, so that the log can begin anew. */
const fewPages = 500
const mostCopies = 4

/** Copies the log of a SQLite file into it, on another thread: 16 MB of pages with their way to the disk stop a process
 * for 30 to 60 ms. If it fails, the writer does it itself, after four times as many pages. */
export class Checkpoints {
  readonly #path: string
  readonly #logger: Pick<Logger, 'warn' | 'error'>
  // One, made when there is first something to copy.
  #worker: Worker | undefined
  #answer: PromiseWithResolvers<number> | undefined
  #pages = 0
  #copying: Promise<void> | undefined
  #isNearlyDone = false
  #isBroken = false

  constructor(path: string, logger: Pick<Logger, 'warn' | 'error'>) {
    this.#path = path
    this.#logger = logger
  }

  /** Is told of each commit that changed something. */
  committed(rows: number): void {
    this.#pages += rows + pagesPerCommit
    if (this.#pages < pagesPerCheckpoint || this.#copying || this.#isBroken) return
    this.#pages = 0
    this.#copying = this.#guarded(() => this.#copyMost())
  }

  /** Before a transaction begins: the last pages are copied while none is written, and the log can begin anew. */
  async finish(): Promise<void> {
    if (!this.#isNearlyDone) return
    this.#isNearlyDone = false
    await this.#guarded(async () => void (await this.#copy()))
    this.#copying = undefined
  }

  async close(): Promise<void> {
    await this.#copying
    const worker = this.#worker
    if (!worker || this.#isBroken) return
    this.#isBroken = true
    const ended = once(worker, 'exit')
    worker.ref()
    worker.postMessage('close')
    await ended
  }

  async #copyMost(): Promise<void> {
    for (let copy = 0; copy < mostCopies; copy += 1) if ((await this.#copy()) <= fewPages) break
    this.#isNearlyDone = true
  }

  /** Answers how many pages are left. */
  async #copy(): Promise<number> {
    if (this.#isBroken) throw new Error('The thread has ended')
    const worker = this.#worker ?? this.#startWorker()
    this.#worker = worker
    this.#answer = Promise.withResolvers()
    // While it copies the process stays; idle, the thread keeps no process alive.
    worker.ref()
    worker.postMessage('copy')
    return this.#answer.promise.finally(() => worker.unref())
  }

  #startWorker(): Worker {
    const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), {
      workerData: { path: this.#path },
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
      execArgv: [],
    })
    worker.on('message', (left: number) => this.#answer?.resolve(left))
    worker.on('error', (error) => this.#answer?.reject(error))
    worker.on('exit', () => {
      this.#isBroken = true
      this.#answer?.reject(new Error('The thread has ended'))
    })
    worker.unref()
    return worker
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#isBroken = true
      this.#logger.warn(
        { err: error },
        'The log of the database is copied by the thread that writes from now on',
      )
    }
  }
}
