import { AsyncLocalStorage } from 'node:async_hooks'
import type { axios } from 'acme-client'

export type AcmeLibrary = typeof import('acme-client')

type Adapter = Extract<(typeof axios)['defaults']['adapter'], (...config: never[]) => unknown>
type LibraryAnswer = Awaited<ReturnType<Adapter>>

/** A request of the library. */
export interface LibraryRequest {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly url: string
  readonly body: string
}

/** Sends what the library asks for. What it throws ends the call of the library, and is not tried again there. */
export type SendForLibrary = (
  request: LibraryRequest,
) => Promise<Pick<LibraryAnswer, 'status' | 'data'> & { readonly headers: Readonly<Record<string, string>> }>

// The library has one HTTP client for all its users: who sends is known by the call that is under way.
const senders = new AsyncLocalStorage<SendForLibrary>()

/** Runs calls of the library; all their requests go through `send`. */
export function sendingBy<Result>(send: SendForLibrary, work: () => Promise<Result>): Promise<Result> {
  return senders.run(send, work)
}

const adapter: Adapter = async (config) => {
  const send = senders.getStore()
  if (!send) throw new TypeError('the ACME library sends requests only inside `sendingBy`')
  const method = config.method?.toUpperCase() as LibraryRequest['method']
  const answer = await send({ method, url: config.url ?? '', body: String(config.data) })
  return { ...answer, headers: { ...answer.headers }, statusText: '', config }
}

let loading: Promise<AcmeLibrary> | undefined

/** The library, configured. Loaded when it is first needed: with what it brings it takes 18 MB of memory. */
export function acmeLibrary(): Promise<AcmeLibrary> {
  loading ??= load()
  return loading
}

async function load(): Promise<AcmeLibrary> {
  const library = await import('acme-client')
  // Whether and when an order is tried again is a matter of the job queue.
  const acmeSettings = { retryMaxAttempts: 0, retryDefaultDelay: 0 }
  Object.assign(library.axios.defaults, { adapter, acmeSettings })
  return library
}
