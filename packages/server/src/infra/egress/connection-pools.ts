import type { LookupFunction } from 'node:net'
import { getCACertificates } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { Pool } from 'undici'

// Origins with open or lately open connections. More than can be in use at once, so that only idle ones are closed.
const maxOrigins = 256
const connectionsPerOrigin = 16
const keepAliveMs = 4000
const maxHeaderBytes = 16 * 1024
const connectTimeoutMs = 5000
// Time between two pieces of an answer.
const silenceMs = 10_000

type Client = typeof import('undici')

/** Connections by origin, made through the given look-up. */
export class ConnectionPools {
  readonly #pools = new LRUCache<string, Pool>({
    max: maxOrigins,
    // What is under way on an evicted pool is finished first.
    dispose: (pool, _origin, reason) => {
      if (reason === 'evict') void pool.close()
    },
  })
  readonly #client: Client
  readonly #options: Pool.Options

  private constructor(client: Client, lookup: LookupFunction, moreCertificates: readonly string[]) {
    this.#client = client
    this.#options = {
      connections: connectionsPerOrigin,
      // HTTP/1 alone, for which the limits are made.
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 0,
      bodyTimeout: silenceMs,
      connectTimeout: connectTimeoutMs,
      connect: {
        lookup,
        minVersion: 'TLSv1.2',
        // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off.
        rejectUnauthorized: true,
        ...(moreCertificates.length > 0
          ? { ca: [...getCACertificates('default'), ...moreCertificates] }
          : {}),
      },
    }
  }

  // Imported only here: a server without outgoing requests does not need its memory.
  static async open(lookup: LookupFunction, moreCertificates: readonly string[]): Promise<ConnectionPools> {
    return new ConnectionPools(await import('undici'), lookup, moreCertificates)
  }

  /** The connections to an origin. They are used at once, or else taken anew. */
  of(origin: string): Pool {
    const known = this.#pools.get(origin)
    if (known) return known
    const pool = new this.#client.Pool(origin, this.#options)
    this.#pools.set(origin, pool)
    return pool
  }

  async destroy(): Promise<void> {
    const pools = [...this.#pools.values()]
    this.#pools.clear()
    await Promise.all(pools.map((pool) => pool.destroy()))
  }
}
