import type { buildConnector, Pool } from 'undici'
import type { Backend } from './backend.ts'
import { lookupBackend } from './backend-lookup.ts'

// As many as requests under way, so that none waits for another's answer.
export const maxConnections = 1000
const keepAliveMs = 4000
// The longest time a backend may ask for.
const longestKeepAliveMs = 60_000
const maxHeaderBytes = 32 * 1024

interface OpenPool {
  readonly backend: string
  readonly pool: Pool
}

/** Connections to backends, which are kept for the next request. */
export class BackendPools {
  // Bounded by the hosts that are proxied, and those that were since the last `keepOnly`.
  readonly #pools = new Map<string, OpenPool>()
  #client: typeof import('undici') | undefined
  #isConnectionFailing = false

  /** Whether what is being told just now follows from the failure of a connection, and not from what came over it. */
  get isConnectionFailing(): boolean {
    return this.#isConnectionFailing
  }

  /** Loads the HTTP client: a server that proxies nothing does not need its memory. */
  async load(): Promise<void> {
    this.#client ??= await import('undici')
  }

  /** The connections to a backend; undefined before `load`. */
  find(backend: Backend): Pool | undefined {
    const known = this.#pools.get(backend.host)
    const key = `${backend.origin} ${backend.connectTimeoutMs}`
    if (known?.backend === key) return known.pool
    if (!this.#client) return undefined
    void known?.pool.close()
    const pool = new this.#client.Pool(backend.origin, {
      connections: maxConnections,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: longestKeepAliveMs,
      maxHeaderSize: maxHeaderBytes,
      // `SilenceWatch` limits how long nothing may move.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: this.#connector(this.#client, backend),
    })
    this.#pools.set(backend.host, { backend: key, pool })
    return pool
  }

  #connector(client: typeof import('undici'), backend: Backend): buildConnector.connector {
    const connect = client.buildConnector({
      lookup: lookupBackend,
      timeout: backend.connectTimeoutMs,
      minVersion: 'TLSv1.2',
      // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off.
      rejectUnauthorized: true,
    })
    return (options, done) =>
      connect(options, (...connected) => {
        const [, socket] = connected
        // Before the client library hears of it, which takes an answer without a length as ended then.
        socket?.on('error', () => {
          this.#isConnectionFailing = true
          queueMicrotask(() => {
            this.#isConnectionFailing = false
          })
        })
        done(...connected)
      })
  }

  /** Closes the connections to backends of other hosts when what is under way on them is done. */
  keepOnly(hosts: ReadonlySet<string>): void {
    for (const [host, { pool }] of this.#pools) {
      if (hosts.has(host)) continue
      this.#pools.delete(host)
      void pool.close()
    }
  }

  async destroy(): Promise<void> {
    const pools = [...this.#pools.values()]
    this.#pools.clear()
    await Promise.all(pools.map(({ pool }) => pool.destroy()))
  }
}
