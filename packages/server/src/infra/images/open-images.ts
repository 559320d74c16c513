import { access, constants, copyFile, link, lstat, mkdir, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import type { TenantId } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { Gate, GateFullError } from '#lib/gate.ts'
import type { ImageJob, ImageOutput, ImageResult, Images } from './images.ts'
import { originalName } from './picture-file.ts'
import type { ImageProblem, WorkerAnswer } from './worker-messages.ts'
import { type WorkerOutcome, WorkerProcess } from './worker-process.ts'

/** Bounds of what one picture, and all of them together, may cost. */
export interface ImageLimits {
  /** Of all frames together. */
  readonly maxPixels: number
  readonly maxFrames: number
  /** Of the whole worker process. */
  readonly maxMemoryBytes: number
  readonly timeLimitMs: number
  readonly startLimitMs: number
  readonly maxWorkers: number
  /** Jobs that wait for a worker; with one more, the last of the tenant that has most is turned away with
   * `E-UNAVAILABLE`. */
  readonly maxWaiting: number
  /** A worker that has had nothing to do for so long is stopped. */
  readonly idleMs: number
}

/** One core stays free for the server itself. */
const defaultImageLimits: ImageLimits = {
  maxPixels: 100_000_000,
  maxFrames: 1000,
  maxMemoryBytes: 1024 ** 3,
  timeLimitMs: 60_000,
  startLimitMs: 30_000,
  maxWorkers: Math.min(8, Math.max(1, availableParallelism() - 1)),
  maxWaiting: 256,
  idleMs: 30_000,
}

interface ImagesOptions {
  /** Made when it is not there; the `outputDir` of every job lies below it. */
  readonly tempDir: string
  readonly logger: {
    debug(details: object, message: string): void
    warn(details: object, message: string): void
  }
  readonly limits?: Partial<ImageLimits>
}

/** Starts no process before the first job. */
export async function openImages(options: ImagesOptions): Promise<Images> {
  // Workers have a working directory of their own, so that a relative path would mean another place to them.
  const tempDir = resolve(options.tempDir)
  await mkdir(tempDir, { recursive: true, mode: 0o700 })
  return new WorkerPool({ ...options, tempDir }, { ...defaultImageLimits, ...options.limits })
}

class WorkerPool implements Images {
  readonly #options: ImagesOptions
  readonly #limits: ImageLimits
  readonly #gate: Gate
  readonly #closing = new AbortController()
  // Both hold `maxWorkers` at most.
  readonly #workers = new Set<WorkerProcess>()
  readonly #idle = new Map<WorkerProcess, NodeJS.Timeout>()

  constructor(options: ImagesOptions, limits: ImageLimits) {
    this.#options = options
    this.#limits = limits
    const { maxWorkers: total, maxWaiting: waiting } = limits
    this.#gate = new Gate({ total, perKey: total, waiting, waitingPerKey: waiting })
  }

  async process(job: ImageJob): Promise<ImageResult> {
    const signal = AbortSignal.any([this.#closing.signal, ...(job.signal ? [job.signal] : [])])
    const leave = await this.#enter(job.tenantId, signal)
    try {
      return await this.#make(job, signal)
    } finally {
      leave()
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Failure('E-UNAVAILABLE', { message: 'The server is stopping.' }))
    for (const timer of this.#idle.values()) clearTimeout(timer)
    await Promise.all([...this.#workers].map((worker) => worker.kill()))
  }

  async #enter(tenantId: TenantId, signal: AbortSignal): Promise<() => void> {
    try {
      return await this.#gate.enter(`${tenantId}`, signal)
    } catch (error) {
      throw error instanceof GateFullError ? new Failure('E-UNAVAILABLE', { cause: error }) : error
    }
  }

  async #make(job: ImageJob, signal: AbortSignal): Promise<ImageResult> {
    // A worker may die of something else than the picture; twice in a row is the picture.
    for (let attempt = 1; attempt <= 2; attempt++) {
      signal.throwIfAborted()
      const outcome = await this.#runOnce(job, signal)
      signal.throwIfAborted()
      if (outcome.kind === 'answered') return this.#resultOf(job, outcome.answer)
      const { started, lastWords } = outcome
      this.#options.logger.warn({ attempt, started, lastWords }, 'An image worker died')
      if (!started) throw new Failure('E-UNAVAILABLE', { message: 'Pictures cannot be processed now.' })
    }
    return { kind: 'unprocessable', reason: 'The picture cannot be read.' }
  }

  async #runOnce(job: ImageJob, signal: AbortSignal): Promise<WorkerOutcome> {
    const { preset, format } = job
    const paths = { inputPath: resolve(job.inputPath), outputDir: resolve(job.outputDir) }
    const { maxPixels, maxFrames, maxMemoryBytes } = this.#limits
    await putOriginal(paths)
    const worker = this.#takeWorker()
    const stop = () => void worker.kill()
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await worker.run({ ...paths, preset, format, maxPixels, maxFrames, maxMemoryBytes })
    } finally {
      signal.removeEventListener('abort', stop)
      this.#putBack(worker)
    }
  }

  #takeWorker(): WorkerProcess {
    for (const [worker, timer] of this.#idle) {
      clearTimeout(timer)
      this.#idle.delete(worker)
      if (worker.isAlive) return worker
      this.#workers.delete(worker)
    }
    const worker = new WorkerProcess({ ...this.#limits, tempDir: this.#options.tempDir })
    this.#workers.add(worker)
    this.#options.logger.debug({ pid: worker.pid }, 'An image worker started')
    return worker
  }

  #putBack(worker: WorkerProcess): void {
    if (worker.isAlive) {
      const timer = setTimeout(() => void this.#stopIdle(worker), this.#limits.idleMs)
      this.#idle.set(worker, timer.unref())
    } else {
      this.#workers.delete(worker)
    }
  }

  async #stopIdle(worker: WorkerProcess): Promise<void> {
    this.#idle.delete(worker)
    await worker.kill()
    this.#workers.delete(worker)
    this.#options.logger.debug({ pid: worker.pid }, 'An idle image worker was stopped')
  }

  async #resultOf(job: ImageJob, answer: WorkerAnswer): Promise<ImageResult> {
    switch (answer.kind) {
      case 'made': {
        const outputs = answer.outputs.map((output) => outputOf(job.outputDir, output))
        const { original, thumbhash } = answer
        return { kind: 'made', original, thumbhash, outputs: await Promise.all(outputs) }
      }
      case 'unprocessable':
        this.#options.logger.debug(
          { problem: answer.problem, detail: answer.detail },
          'A picture is unprocessable',
        )
        await assertReadable(job.inputPath)
        return { kind: 'unprocessable', reason: reasons[answer.problem] }
      case 'failed':
        this.#options.logger.warn({ detail: answer.detail }, 'An image worker could not do its work')
        throw new Failure('E-UNAVAILABLE', { message: 'Pictures cannot be processed now.' })
    }
  }
}

/** Shown to the person who uploaded the picture. */
const reasons: Record<ImageProblem, string> = {
  unsupported: 'This kind of picture cannot be read. JPEG, PNG, WebP, AVIF, GIF, TIFF and HEIC can.',
  damaged: 'The picture is damaged.',
  'too-many-pixels': 'The picture has too many pixels.',
  'too-many-frames': 'The animation has too many frames.',
  'too-much-memory': 'Reading the picture takes too much memory.',
  'too-slow': 'Reading the picture takes too long.',
}

type ReportedOutput = Extract<WorkerAnswer, { kind: 'made' }>['outputs'][number]

/** What the worker says is believed as far as it can be seen: a link would make the server read a file of its own. */
async function outputOf(outputDir: string, output: ReportedOutput): Promise<ImageOutput> {
  const path = join(outputDir, `${output.variant}.${output.format}`)
  const file = await lstat(path)
  if (!file.isFile()) throw new Error(`The image worker left something else than a file: ${output.variant}`)
  return { ...output, path, size: file.size }
}

/** Where the worker's JavaScript may read it, which reads nothing else of the server's. */
async function putOriginal(paths: { readonly inputPath: string; readonly outputDir: string }): Promise<void> {
  const place = join(paths.outputDir, originalName)
  await rm(place, { force: true })
  try {
    // Another disk, or a disk without links.
    await link(paths.inputPath, place).catch(() => copyFile(paths.inputPath, place))
  } catch (cause) {
    throw new Failure('E-UNAVAILABLE', { cause })
  }
}

/** An original that was removed meanwhile says nothing about the picture. */
async function assertReadable(inputPath: string): Promise<void> {
  try {
    await access(inputPath, constants.R_OK)
  } catch (cause) {
    throw new Failure('E-UNAVAILABLE', { cause })
  }
}
