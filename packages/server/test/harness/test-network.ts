import type { IdTag } from '@kith/protocol'
import { TestClock } from './test-clock.ts'
import { TestServer, type TestServerOptions } from './test-server.ts'

/** Several servers in one process that find each other and share one clock. */
export class TestNetwork implements AsyncDisposable {
  readonly clock = new TestClock()
  readonly servers: TestServer[] = []
  readonly #identityHosts = new Map<IdTag, string>()

  /** Servers with the base identities `one.localhost`, `two.localhost`, … */
  static async start(count: number, options: Pick<TestServerOptions, 'env'> = {}): Promise<TestNetwork> {
    const network = new TestNetwork()
    for (const name of ['one', 'two', 'three', 'four', 'five'].slice(0, count))
      await network.add(name, options)
    return network
  }

  async add(name: string, options: Pick<TestServerOptions, 'env' | 'dataDir'> = {}): Promise<TestServer> {
    const server = await TestServer.start({
      ...options,
      baseIdTag: `${name}.localhost`,
      clock: this.clock,
      identityHosts: this.#identityHosts,
    })
    this.servers.push(server)
    return server
  }

  server(at: number): TestServer {
    const server = this.servers[at]
    if (!server) throw new RangeError(`there are ${this.servers.length} servers`)
    return server
  }

  /** Resolves when no server has a job that is due: what one delivers may give another something to do. */
  async settle(): Promise<void> {
    // Twice around without work in between would be enough; each round lets a message go one hop further.
    for (let round = 0; round < 4; round += 1) for (const server of this.servers) await server.settle()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()))
  }
}
