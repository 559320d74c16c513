import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe } from 'vitest'
import { freePort } from './free-port.ts'
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

/** A Redis of the test's own, which it may stop: the `redis-server` that is installed. */
export class RedisServer implements AsyncDisposable {
  readonly port: number
  #child: ChildProcess | undefined

  private constructor(port: number) {
    this.port = port
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort())
    await server.startAgain()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  async startAgain(): Promise<void> {
    const child = spawn('redis-server', ['--port', String(this.port), '--save', '', '--appendonly', 'no'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#child = child
    let said = ''
    for await (const chunk of child.stdout) {
      said += chunk
      if (said.includes('Ready to accept connections')) break
    }
    child.stdout?.resume()
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}
