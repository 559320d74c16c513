import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Client, createClient } from '@kith/client'
import { compileCache } from './compile-cache.ts'
import { localFetch } from './local-fetch.ts'

const program = join(import.meta.dirname, 'clocked-server.ts')
const ownFetch = localFetch()

export interface ClockedPlace {
  readonly baseIdTag: string
  readonly dataDir: string
  /** The port under which the others reach it. */
  readonly linkPort: number
  readonly identityHosts: Readonly<Record<string, string>>
  readonly nowMs: number
  readonly env?: Readonly<Record<string, string>>
}

export type ClockedOrder =
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'settle' }
  | { readonly kind: 'createTenant'; readonly idTag: string }

interface Answer {
  readonly port?: number
  readonly error?: string
}

/** A server in a process that a test may kill, on a clock that the test moves. */
export class ClockedProcess implements AsyncDisposable {
  readonly port: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
  }

  /** `within` makes of its command one that ends by running it in the same process. */
  static async start(
    place: ClockedPlace,
    within: (command: [string, ...string[]]) => [string, ...string[]] = (command) => command,
  ): Promise<ClockedProcess> {
    const env = { ...process.env, ...compileCache }
    const [file, ...args] = within([process.execPath, program, JSON.stringify(place)])
    const child = spawn(file, args, { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
    const { port = 0 } = await answerOf(child)
    return new ClockedProcess(child, port)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** One order at a time. */
  async obey(order: ClockedOrder): Promise<void> {
    this.#child.send(order)
    await answerOf(this.#child)
  }

  /** A client that reaches it directly, whatever happens to its link. */
  client(idTag: string, token?: string): Client {
    const options = token === undefined ? {} : { token }
    return createClient({ baseUrl: `http://${idTag}:${this.port}`, fetch: ownFetch, ...options })
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

async function answerOf(child: ChildProcess): Promise<Answer> {
  const listening = new AbortController()
  const { signal } = listening
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`the server ended with ${code} before it answered`)
  })
  try {
    const [answer] = (await Promise.race([once(child, 'message', { signal }), ended])) as [Answer]
    if (answer.error !== undefined) throw new Error(answer.error)
    return answer
  } finally {
    ended.catch(() => undefined)
    listening.abort()
  }
}
