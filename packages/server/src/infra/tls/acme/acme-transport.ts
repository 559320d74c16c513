import { type Egress, type EgressAnswer, EgressError, retryAfterMs } from '#infra/egress/index.ts'
import type { Clock } from '#lib/clock.ts'
import { AcmeError, errorOfProblem, membersOf } from './acme-error.ts'
import { type SendForLibrary, sendingBy } from './acme-library.ts'

export interface AcmeTransportOptions {
  readonly egress: Pick<Egress, 'request'>
  readonly clock: Clock
  readonly directoryUrl: string
}

export interface AcmeAnswer<Result> {
  readonly result: Result
  /** Not to be asked again before, Unix milliseconds. */
  readonly retryAtMs: number | undefined
}

/** Addresses of an authority's services, as its directory names them. */
export type Directory = Readonly<
  Partial<Record<'newNonce' | 'newAccount' | 'newOrder' | 'renewalInfo', string>>
>

const timeoutMs = 30_000
// The longest is a certificate with those above it.
const maxAnswerBytes = 256 * 1024
// The library signs one request with up to six nonces, and makes at most two of them in a call.
const maxRequestsPerCall = 14
const maxCalls = 2
const maxNonces = 8
const nonceForm = /^[A-Za-z0-9_-]{1,512}$/

/** Carries the requests of the library to an authority, and its problems back, which the library does not tell (RFC 8555
 * section 6). */
export class AcmeTransport {
  readonly #options: AcmeTransportOptions
  // Bounded by `maxNonces`.
  readonly #nonces: string[] = []
  #directory: Promise<Directory> | undefined

  constructor(options: AcmeTransportOptions) {
    this.#options = options
  }

  /** Read once; a failure is not kept. */
  directory(): Promise<Directory> {
    this.#directory ??= this.#readDirectory().catch((error: unknown) => {
      this.#directory = undefined
      throw error
    })
    return this.#directory
  }

  /** An answer to a request that is not signed. */
  async get(url: string): Promise<AcmeAnswer<unknown>> {
    const answer = await this.#request({ method: 'GET', url })
    return { result: this.#bodyOf(answer), retryAtMs: this.#retryAtMs(answer) }
  }

  /** Calls the library, anew where none of its nonces was taken: nothing was done then. */
  async call<Result>(work: () => Promise<Result>): Promise<AcmeAnswer<Result>> {
    for (let calls = 1; ; calls += 1)
      try {
        return await this.#callOnce(work)
      } catch (error) {
        const isStale = error instanceof AcmeError && error.type === 'badNonce'
        if (!isStale || calls >= maxCalls) throw error
      }
  }

  async #callOnce<Result>(work: () => Promise<Result>): Promise<AcmeAnswer<Result>> {
    const seen: Seen = { requests: 0, retryAtMs: undefined, badNonce: undefined }
    try {
      const result = await sendingBy((request) => this.#send(request, seen), work)
      return { result, retryAtMs: seen.retryAtMs }
    } catch (error) {
      if (error instanceof AcmeError) throw error
      const message = error instanceof Error ? error.message : ''
      throw seen.badNonce ?? new AcmeError('malformedAnswer', message, { cause: error })
    }
  }

  async #send({ method, url, body }: Parameters<SendForLibrary>[0], seen: Seen): ReturnType<SendForLibrary> {
    if (url === this.#options.directoryUrl) return { status: 200, headers: {}, data: await this.directory() }
    const nonce = method === 'HEAD' ? this.#nonces.pop() : undefined
    if (nonce !== undefined) return { status: 200, headers: { 'replay-nonce': nonce }, data: '' }
    seen.requests += 1
    if (seen.requests > maxRequestsPerCall)
      throw new AcmeError('malformedAnswer', 'the authority comes to no end')
    const headers = { 'content-type': 'application/jose+json' }
    const answer = await this.#request({ method, url, ...(method === 'POST' ? { headers, body } : {}) })
    seen.retryAtMs = this.#retryAtMs(answer)
    seen.badNonce = badNonceOf(answer)
    // The library takes the nonce of these two itself.
    if (method !== 'HEAD' && !seen.badNonce) this.#keepNonce(answer)
    const data = seen.badNonce ? parsedBody(answer) : this.#bodyOf(answer)
    return { status: answer.status, headers: headersOf(answer), data }
  }

  async #readDirectory(): Promise<Directory> {
    const { result } = await this.get(this.#options.directoryUrl)
    const directory = membersOf(result)
    for (const name of ['newNonce', 'newAccount', 'newOrder'])
      if (typeof directory[name] !== 'string')
        throw new AcmeError(
          'malformedAnswer',
          'the address of ACME_DIRECTORY is no directory of an authority',
        )
    return directory as Directory
  }

  async #request(request: Parameters<Egress['request']>[0]): Promise<EgressAnswer> {
    this.#assertAsSafe(request.url)
    try {
      return await this.#options.egress.request({ ...request, timeoutMs, maxBytes: maxAnswerBytes })
    } catch (error) {
      if (!(error instanceof EgressError)) throw error
      const type = error.reason === 'too-large' ? 'malformedAnswer' : 'unreachable'
      throw new AcmeError(type, `${error.reason}: ${error.message}`, { cause: error })
    }
  }

  /** An authority must not lead us from https to http. */
  #assertAsSafe(url: string): void {
    if (this.#options.directoryUrl.startsWith('https:') && !/^https:\/\//i.test(url))
      throw new AcmeError('malformedAnswer', 'the authority named an address that is not https')
  }

  #keepNonce(answer: EgressAnswer): void {
    const nonce = headersOf(answer)['replay-nonce']
    if (nonce !== undefined && this.#nonces.length < maxNonces) this.#nonces.push(nonce)
  }

  #retryAtMs({ headers }: EgressAnswer): number | undefined {
    return retryAfterMs(headers['retry-after'], this.#options.clock.now())
  }

  /** Throws what the authority has refused. */
  #bodyOf(answer: EgressAnswer): unknown {
    const parsed = parsedBody(answer)
    if (answer.status >= 400 || answer.status < 200)
      throw errorOfProblem(parsed, answer.status, this.#retryAtMs(answer))
    return parsed
  }
}

/** What a call of the library has come by. */
interface Seen {
  requests: number
  /** Of the last answer, as the next one. */
  retryAtMs: number | undefined
  badNonce: AcmeError | undefined
}

/** That a nonce is not taken, in the form in which the library tries again. */
function badNonceOf(answer: EgressAnswer): AcmeError | undefined {
  if (answer.status !== 400) return undefined
  const error = errorOfProblem(parsedBody(answer), answer.status)
  return error.type === 'badNonce' ? error : undefined
}

/** The headers that the library reads. */
function headersOf({ headers }: EgressAnswer): Readonly<Record<string, string>> {
  const { location, 'replay-nonce': nonce } = headers
  return {
    ...(location === undefined ? {} : { location }),
    ...(nonce !== undefined && nonceForm.test(nonce) ? { 'replay-nonce': nonce } : {}),
  }
}

/** The members of JSON, or the text of certificates; no members where the answer is something else. */
function parsedBody({ headers, body }: EgressAnswer): string | Readonly<Record<string, unknown>> {
  const text = Buffer.from(body).toString('utf8')
  const isJson = headers['content-type']?.includes('json') === true
  if (!isJson) return text.includes('-----BEGIN CERTIFICATE-----') ? text : {}
  try {
    return membersOf(JSON.parse(text))
  } catch {
    return {}
  }
}
