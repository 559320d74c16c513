import { runOn } from './processes.ts'

/** Requests of one kind, as fast as the server answers them. */
export interface Load {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  /** Sent in turn; with `once`, each is sent once and the load ends with the last. */
  readonly bodies?: readonly string[]
  readonly once?: boolean
  readonly connections: number
  readonly seconds: number
  /** Each request comes from another address, by `X-Forwarded-For`. */
  readonly manyAddresses?: boolean
}

export interface LoadResult {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly non2xx: number
}

const worker = new URL('./load-worker.ts', import.meta.url)

/** Runs a load in a process of its own on the second processor. Fails when an answer was not 2xx. */
export async function load(request: Load): Promise<LoadResult> {
  const result = await runOn<LoadResult>(1, worker, request)
  if (result.non2xx > 0)
    throw new Error(`${result.non2xx} answers of ${request.method} ${request.url} were no success`)
  return result
}
