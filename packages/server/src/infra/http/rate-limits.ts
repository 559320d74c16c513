import type { RateBucket } from '@kith/protocol'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'

/** The tight buckets of contracts; the general ones by address and by identity; and bearers that were refused. */
export type RateLimitName =
  | Exclude<RateBucket, 'general'>
  | 'anonymous'
  | 'identity'
  | 'visitor'
  | 'bad-bearer'
  | 'inbox-issuer'
  | 'upgrade'
  | 'gateway'

/** Requests per minute and key. Also in docs/protocol/conventions.md, Bounds. The tight ones leave room for a household behind one
 * address and for a peer server, and stop a guessing machine. */
export const defaultRateLimits: Readonly<Record<RateLimitName, number>> = {
  anonymous: 1000,
  identity: 5000,
  // For all visitors of one address together, so that a thousand identities of one person get no more than one.
  visitor: 5000,
  'bad-bearer': 300,
  'sign-in': 60,
  // Where a sign-in page starts: an office that opens it in the morning.
  'login-init': 300,
  recovery: 20,
  registration: 30,
  // A server with many users delivers from one address, and it may catch up after an outage; what one of its users
  // sends is bounded by `inbox-issuer`.
  inbox: 6000,
  'inbox-issuer': 600,
  // Who waits for the work holds a connection for up to five seconds; it also takes from `inbox`.
  'inbox-sync': 600,
  // WebSockets that are opened: a household that comes back after a restart, not a client that loops.
  upgrade: 600,
  // By the owner, whatever the other host: a folder of some hundred pictures, and the lists around it.
  gateway: 1500,
  qr: 120,
  reference: 300,
  // A server on which people register asks for each of them, from one address.
  idp: 60,
}

/** How a bucket stands after a request took from it. */
export interface RateVerdict {
  readonly isAllowed: boolean
  readonly limit: number
  readonly remaining: number
  /** When the bucket is full again, Unix seconds. */
  readonly resetAtSecs: number
}

/** Counts requests. `key` is an address (see `rateKeyOf`), an identity or an account. */
export interface RateLimits {
  take(name: RateLimitName, key: string): RateVerdict | Promise<RateVerdict>
  /** Whether refused bearers of this key have used up their bucket, as far as this process has seen. */
  hasTooManyBadBearers(key: string): boolean
  close(): Promise<void>
}

/** Takes one from a bucket, or fails with `E-RATELIMIT`: for use cases that count per account. */
export async function assertRate(
  deps: { readonly rateLimits: RateLimits; readonly clock: Pick<Clock, 'now'> },
  name: RateLimitName,
  key: string,
): Promise<void> {
  const verdict = await deps.rateLimits.take(name, key)
  if (!verdict.isAllowed) throw rateFailure(verdict, deps.clock)
}

export function rateFailure(verdict: RateVerdict, clock: Pick<Clock, 'now'>): Failure {
  const retryAfterSecs = Math.max(1, verdict.resetAtSecs - nowSecs(clock))
  return new Failure('E-RATELIMIT', { retryAfterSecs, limit: verdict.limit })
}

/** Buckets that answer at once. */
interface MemoryRateLimits extends RateLimits {
  take(name: RateLimitName, key: string): RateVerdict
}

export const windowMs = 60_000
/** Keys that one bucket remembers; beyond it the oldest are forgotten. */
const maxKeys = 50_000

interface Window {
  readonly endsAtMs: number
  taken: number
}

/** Fixed windows of a minute in this process. */
export function createMemoryRateLimits(
  clock: Pick<Clock, 'now'>,
  limits: Readonly<Record<RateLimitName, number>>,
): MemoryRateLimits {
  // All windows are of the same length, so the order of insertion is the order in which they end. Bound: `maxKeys` each.
  const buckets = new Map<RateLimitName, Map<string, Window>>()
  return {
    take(name, key) {
      const nowMs = clock.now()
      const bucket = buckets.get(name) ?? new Map<string, Window>()
      if (bucket.size === 0) buckets.set(name, bucket)
      const limit = limits[name]
      const window = currentWindow(bucket, key, nowMs)
      if (window.taken <= limit) window.taken += 1
      return {
        isAllowed: window.taken <= limit,
        limit,
        remaining: Math.max(0, limit - window.taken),
        resetAtSecs: Math.ceil(window.endsAtMs / 1000),
      }
    },
    hasTooManyBadBearers(key) {
      const window = buckets.get('bad-bearer')?.get(key)
      return window !== undefined && window.endsAtMs > clock.now() && window.taken >= limits['bad-bearer']
    },
    close: async () => buckets.clear(),
  }
}

function currentWindow(bucket: Map<string, Window>, key: string, nowMs: number): Window {
  const window = bucket.get(key)
  if (window && window.endsAtMs > nowMs) return window
  bucket.delete(key)
  for (const [oldest, { endsAtMs }] of bucket) {
    if (endsAtMs > nowMs && bucket.size < maxKeys) break
    bucket.delete(oldest)
  }
  const fresh = { endsAtMs: nowMs + windowMs, taken: 0 }
  bucket.set(key, fresh)
  return fresh
}
