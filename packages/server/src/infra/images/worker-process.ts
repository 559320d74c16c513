import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { setPriority } from 'node:os'
import { basename, join } from 'node:path'
import { readWorkerMessage, type WorkerAnswer, type WorkerRequest } from './worker-messages.ts'

export interface WorkerOptions {
  /** The one folder that the worker's JavaScript may write to, and read beside its program. */
  readonly tempDir: string
  readonly startLimitMs: number
  readonly timeLimitMs: number
}

/** How a job ended: with the worker's answer, or with its end. `started` is false when it never came to the job. */
export type WorkerOutcome =
  | { readonly kind: 'answered'; readonly answer: WorkerAnswer }
  | { readonly kind: 'died'; readonly started: boolean; readonly lastWords: string }

// Its JavaScript heap holds next to nothing; pictures live outside of it and are watched by their own limit.
const heapMegabytes = 64
const lowPriority = 10
const lastWordsChars = 2000

/** A process that makes one picture at a time. What goes wrong in it ends it, and nothing else. */
export class WorkerProcess {
  readonly #child: ChildProcess
  readonly #options: WorkerOptions
  readonly #ready = Promise.withResolvers<boolean>()
  readonly #exited = Promise.withResolvers<void>()
  #settle: ((outcome: WorkerOutcome) => void) | undefined
  #isAlive = true
  #lastWords = ''

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#child = startChild(options.tempDir)
    this.#child.on('message', (message) => this.#receive(message))
    this.#child.once('exit', () => this.#end())
    this.#child.on('error', () => this.#end())
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-lastWordsChars)
    })
    if (this.#child.stderr instanceof Socket) this.#child.stderr.unref()
    this.#watchStart()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** One job at a time. Over its time, the worker is killed. */
  async run(request: WorkerRequest): Promise<WorkerOutcome> {
    this.#holdServer(true)
    const outcome = (await this.#ready.promise) ? await this.#answerTo(request) : this.#died(false)
    if (outcome.kind === 'died' || endsWorker(outcome.answer)) await this.kill()
    else this.#holdServer(false)
    return outcome
  }

  /** At once: there is nothing in a worker to lose. */
  async kill(): Promise<void> {
    this.#holdServer(true)
    this.#child.kill('SIGKILL')
    await this.#exited.promise
  }

  #answerTo(request: WorkerRequest): Promise<WorkerOutcome> {
    const { promise, resolve } = Promise.withResolvers<WorkerOutcome>()
    // Real time, whatever the server's clock says: this is about a processor that is busy.
    const timer = setTimeout(() => {
      resolve({ kind: 'answered', answer: { kind: 'unprocessable', problem: 'too-slow' } })
    }, this.#options.timeLimitMs)
    this.#settle = (outcome) => {
      clearTimeout(timer)
      this.#settle = undefined
      resolve(outcome)
    }
    if (!this.#isAlive) this.#settle(this.#died(true))
    else this.#child.send(request, (error) => error && this.#settle?.(this.#died(true)))
    return promise
  }

  #receive(message: unknown): void {
    const known = readWorkerMessage(message)
    if (known?.kind === 'ready') this.#ready.resolve(true)
    else if (known) this.#settle?.({ kind: 'answered', answer: known })
    else this.#child.kill('SIGKILL')
  }

  #end(): void {
    this.#isAlive = false
    this.#ready.resolve(false)
    this.#exited.resolve()
    this.#settle?.(this.#died(true))
  }

  #died(started: boolean): WorkerOutcome {
    return { kind: 'died', started, lastWords: this.#lastWords }
  }

  #watchStart(): void {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), this.#options.startLimitMs)
    void this.#ready.promise.then(() => clearTimeout(timer))
  }

  /** An idle worker does not keep the server's process from ending; it ends with it. */
  #holdServer(hold: boolean): void {
    const handles = [this.#child, this.#child.channel]
    for (const handle of handles) hold ? handle?.ref() : handle?.unref()
  }
}

function endsWorker(answer: WorkerAnswer): boolean {
  if (answer.kind === 'failed') return false
  if (answer.isSpent) return true
  return (
    answer.kind === 'unprocessable' && (answer.problem === 'too-slow' || answer.problem === 'too-much-memory')
  )
}

function startChild(tempDir: string): ChildProcess {
  const child = fork(join(import.meta.dirname, 'images-worker.ts'), [], {
    execArgv: nodeFlags(tempDir),
    env: {},
    cwd: tempDir,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  if (child.pid !== undefined) yieldToOthers(child.pid)
  return child
}

/** What Node itself can take away. It binds JavaScript; a decoder that was taken over is bound by the container. */
function nodeFlags(tempDir: string): string[] {
  return [
    '--permission',
    '--allow-addons',
    ...codeFolders().map((folder) => `--allow-fs-read=${join(folder, '*')}`),
    `--allow-fs-read=${join(tempDir, '*')}`,
    `--allow-fs-write=${join(tempDir, '*')}`,
    `--max-old-space-size=${heapMegabytes}`,
    '--disallow-code-generation-from-strings',
    '--disable-warning=SecurityWarning',
  ]
}

/** Where the worker's program lies, and every folder of packages that a search for the decoders passes. */
function codeFolders(): string[] {
  const searched = createRequire(import.meta.url).resolve.paths('sharp') ?? []
  const packages = searched.filter((folder) => basename(folder) === 'node_modules' && existsSync(folder))
  return [import.meta.dirname, ...packages, ...packages.map((folder) => realpathSync(folder))]
}

/** Pictures are made when nothing else needs the processor, and a machine out of memory gives up a worker first. */
function yieldToOthers(pid: number): void {
  try {
    setPriority(pid, lowPriority)
  } catch {
    // It is gone already, or the system does not let us: the work is the same.
  }
  writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => undefined)
}
