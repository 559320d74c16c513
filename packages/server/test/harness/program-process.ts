import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../bin/kith.js', import.meta.url))

/** What a process has said, and how it has ended. */
export interface Ended {
  readonly exitCode: number | null
  readonly out: string
  readonly err: string
}

/** The program as its user runs it, for what only a process shows: signals, streams and exit codes. */
export class ProgramProcess implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #ended: Promise<Ended>
  #out = ''

  /** `env` is the whole of its environment. */
  constructor(words: readonly string[], env: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, [program, ...words], { env: { ...env }, stdio: 'pipe' })
    this.#child.stdout.on('data', (chunk) => {
      this.#out += chunk
    })
    this.#ended = this.#end()
  }

  /** The first line on standard output; fails when it ends without one. */
  async firstLine(): Promise<string> {
    while (!this.#out.includes('\n')) {
      const ended = await Promise.race([this.#ended, once(this.#child.stdout, 'data')])
      if ('exitCode' in ended) throw new Error(`it ended with ${ended.exitCode}: ${ended.err}`)
    }
    return this.#out.slice(0, this.#out.indexOf('\n'))
  }

  type(text: string): void {
    this.#child.stdin.end(text)
  }

  /** Reads nothing more of what it says. */
  hangUp(): void {
    this.#child.stdout.destroy()
  }

  signal(signal: 'SIGTERM' | 'SIGINT'): void {
    this.#child.kill(signal)
  }

  end(): Promise<Ended> {
    return this.#ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  async #end(): Promise<Ended> {
    const [err] = await Promise.all([text(this.#child.stderr), once(this.#child, 'close')])
    return { exitCode: this.#child.exitCode, out: this.#out, err }
  }
}
