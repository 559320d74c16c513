import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { CuttableLink } from './cuttable-link.ts'
import { skipSuite } from './skip-suite.ts'

/** A suite against the Redis at TEST_REDIS_URL, in the run of services. */
export function withRedis(name: string, suite: (redisUrl: string) => void): void {
  const redisUrl = process.env.TEST_REDIS_URL
  if (redisUrl === undefined) {
    skipSuite(name, 'needs a Redis server: name it in TEST_REDIS_URL')
    return
  }
  describe(name, () => suite(redisUrl))
}

/** A Redis of the test's own, which it may stop and start again: the `redis-server` that is installed, on a Unix socket behind a
 * link. */
export class RedisServer implements AsyncDisposable {
  readonly #folder: string
  readonly #link: CuttableLink
  #child: ChildProcess | undefined

  private constructor(folder: string, link: CuttableLink) {
    this.#folder = folder
    this.#link = link
  }

  static async start(): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'kith-redis-'))
    const server = new RedisServer(folder, await CuttableLink.open())
    await server.startAgain()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#link.port}`
  }

  async startAgain(): Promise<void> {
    const socket = join(this.#folder, 'socket')
    const options = ['--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no']
    const child = spawn('redis-server', options, { cwd: this.#folder, stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child = child
    let log = ''
    let isReady = false
    for await (const chunk of child.stdout) {
      log += chunk
      isReady = /ready to accept connections/i.test(log)
      if (isReady) break
    }
    if (!isReady) throw new Error(`redis-server ended before it was ready: ${log}`)
    this.#link.leadTo(socket)
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    this.#link.leadTo(undefined)
    if (!child || child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.#link[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true, force: true })
  }
}
