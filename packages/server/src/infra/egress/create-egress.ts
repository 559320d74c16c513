import { Readable } from 'node:stream'
import { Gate, GateFullError } from '#lib/gate.ts'
import { assertReadable, boundedBody } from './answer-body.ts'
import { checkedLookup, type LookupDeps, resolveChecked } from './checked-lookup.ts'
import { ConnectionPools } from './connection-pools.ts'
import { Deadline } from './deadline.ts'
import {
  type Egress,
  type EgressAnswer,
  EgressError,
  type EgressHead,
  type EgressRequest,
  type EgressStream,
  type HeadRequest,
  type LateBody,
  type PassedBody,
  type UrlCheck,
} from './egress.ts'
import { toEgressError } from './egress-failure.ts'
import type { LoopGuard } from './loop-guard.ts'
import { checkedUrl, hostOf, networkPolicy, type PrivateNetworks } from './network-policy.ts'
import { type Hop, isRedirect, nextHop } from './redirects.ts'

export interface EgressOptions {
  /** `ALLOW_PRIVATE_NETWORK`. */
  readonly privateNetworks: PrivateNetworks
  readonly resolver: LookupDeps['resolver']
  readonly userAgent: string
  /** Marks what leaves, so that it is known when it comes back. */
  readonly loopGuard?: Pick<LoopGuard, 'via'>
  /** Certificate authorities (PEM) to trust besides the usual ones. */
  readonly trustedCertificates?: readonly string[]
}

const defaultTimeoutMs = 10_000
const defaultMaxBytes = 1024 * 1024
// Requests in progress and waiting in this process; the bounds per host leave room for other hosts.
export const gateLimits = { total: 192, perKey: 16, waitingPerKey: 256, waiting: 1024 }

/** Makes the HTTP client whose rules are docs/operations/outbound-requests.md. */
export function createEgress(options: EgressOptions): Egress & UrlCheck {
  return new CheckedEgress(options)
}

class CheckedEgress implements Egress, UrlCheck {
  readonly #lookup: LookupDeps
  readonly #trusted: readonly string[]
  #pools: Promise<ConnectionPools> | undefined
  readonly #gate = new Gate(gateLimits)
  readonly #closing = new AbortController()
  readonly #userAgent: string
  readonly #loopGuard: Pick<LoopGuard, 'via'> | undefined

  constructor(options: EgressOptions) {
    this.#lookup = { resolver: options.resolver, policy: networkPolicy(options.privateNetworks) }
    this.#trusted = options.trustedCertificates ?? []
    this.#userAgent = options.userAgent
    this.#loopGuard = options.loopGuard
  }

  async request(request: EgressRequest): Promise<EgressAnswer> {
    const { status, headers, body } = await this.stream(request)
    return { status, headers, body: Buffer.concat(await body.toArray()) }
  }

  async stream(request: EgressRequest): Promise<EgressStream> {
    const maxBytes = request.maxBytes ?? defaultMaxBytes
    const deadline = this.#deadlineOf(request)
    try {
      const { status, headers, body } = await this.#follow(request, deadline)
      body.once('close', () => deadline.clear())
      const hasBody = request.method !== 'HEAD' && status !== 204 && status !== 304
      if (hasBody) assertReadable(headers, body, maxBytes)
      return { status, headers, body: boundedBody(body, maxBytes) }
    } catch (error) {
      deadline.clear()
      throw toEgressError(error)
    }
  }

  async requestHead(request: HeadRequest): Promise<EgressHead> {
    const deadline = this.#deadlineOf(request)
    try {
      const { status, headers, body } = await this.#send(this.#firstHop(request), request, deadline.signal)
      // One that has come with the head leaves its connection to the next request; any other ends it.
      body.destroy()
      return { status, headers }
    } catch (error) {
      throw toEgressError(error)
    } finally {
      deadline.clear()
    }
  }

  async assertReachable(url: string): Promise<void> {
    await resolveChecked(hostOf(checkedUrl(url, this.#lookup.policy)), this.#lookup)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await (await this.#pools)?.destroy()
  }

  #deadlineOf({ timeoutMs = defaultTimeoutMs, signal }: HeadRequest): Deadline {
    return new Deadline(timeoutMs, [signal, this.#closing.signal])
  }

  #firstHop({ url, headers = {} }: HeadRequest): Hop {
    return { url: checkedUrl(url, this.#lookup.policy), headers }
  }

  async #follow(request: EgressRequest, { signal }: Deadline): Promise<EgressStream> {
    const { policy } = this.#lookup
    let hop = this.#firstHop(request)
    for (let redirects = 0; ; redirects += 1) {
      const answer = await this.#send(hop, request, signal)
      if (!isRedirect(answer.status)) return answer
      answer.body.destroy()
      if (request.refusesRedirects)
        throw new EgressError('redirect', 'a redirect, which is not followed here')
      const { location } = answer.headers
      hop = nextHop(hop, { method: request.method, location, redirects }, policy)
    }
  }

  async #send({ url, headers }: Hop, request: HeadRequest, signal: AbortSignal): Promise<EgressStream> {
    this.#pools ??= ConnectionPools.open(checkedLookup(this.#lookup), this.#trusted)
    const pools = await this.#pools
    const leave = await this.#enter(url.origin, signal)
    try {
      const answer = await pools.of(url.origin).request({
        method: request.method,
        path: url.pathname + url.search,
        headers: {
          'user-agent': this.#userAgent,
          ...headers,
          ...lengthOf(request.body),
          'accept-encoding': 'identity',
          ...(this.#loopGuard ? { via: this.#loopGuard.via } : {}),
        },
        body: bodyOf(request.body),
        signal,
      })
      closeWith(answer.body, signal, leave)
      return { status: answer.statusCode, headers: joined(answer.headers), body: answer.body }
    } catch (error) {
      leave()
      throw error
    }
  }

  async #enter(origin: string, signal: AbortSignal): Promise<() => void> {
    try {
      return await this.#gate.enter(origin, signal)
    } catch (error) {
      if (!(error instanceof GateFullError)) throw error
      throw new EgressError('overloaded', 'too many requests are waiting', { cause: error })
    }
  }
}

function isLate(body: EgressRequest['body']): body is LateBody {
  return typeof body === 'object' && 'read' in body
}

function isPassed(body: EgressRequest['body']): body is PassedBody {
  return typeof body === 'object' && 'stream' in body
}

function lengthOf(body: EgressRequest['body']): Record<string, string> {
  const bytes = isLate(body) || isPassed(body) ? body.bytes : undefined
  return bytes === undefined ? {} : { 'content-length': String(bytes) }
}

function bodyOf(body: EgressRequest['body']): string | Uint8Array | Readable | null {
  if (isPassed(body)) return body.stream
  return isLate(body) ? Readable.from(readOnce(body), { objectMode: false }) : (body ?? null)
}

async function* readOnce(body: LateBody): AsyncGenerator<Uint8Array> {
  yield await body.read()
}

/** Ends the body with the request, also when it is not read, and says when it has ended. */
function closeWith(body: Readable, signal: AbortSignal, ended: () => void): void {
  const destroy = () => body.destroy(signal.reason)
  signal.addEventListener('abort', destroy, { once: true })
  // The error reaches the reader of the body, if there is one.
  body.on('error', () => {})
  body.once('close', () => {
    signal.removeEventListener('abort', destroy)
    ended()
  })
}

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
}
