import type { TenantId } from '#infra/db/index.ts'

/** How many attempts at once, and how soon the next one. */
interface Pace {
  readonly burst: number
  readonly refillMs: number
}

/** Limits how many attempts may be made; durable, so that a restart or another node does not refill it. */
export interface AttemptBucket extends Pace {
  readonly tenantId: TenantId
  readonly key: string
  /** Filled by unrelated clients: one that finds it full gets a turn. */
  readonly isShared?: true
}

/** An attempt that may be made later and is counted already, so that others cannot block a client for ever. */
export interface AttemptTurn {
  readonly tenantId: TenantId
  readonly key: string
}

// From where the account has been used before: its owner, or others in the same house.
const knownDevice: Pace = { burst: 10, refillMs: 15_000 }
// All strangers together, against one account: 5 800 guesses a day, and the owner's own devices never wait for them.
const account: Pace = { burst: 20, refillMs: 15_000 }
// One stranger against all accounts of the server.
const address: Pace = { burst: 20, refillMs: 10_000 }
// One customer with many addresses, as is usual with IPv6: else they could take every turn of a day.
const network: Pace = { burst: 60, refillMs: 60_000 }
// All strangers against all accounts.
const everybody: Pace = { burst: 500, refillMs: 200 }

/** The buckets that a sign-in must find room in. `place` is the address, coarse enough to be one customer. */
export function signInBuckets(
  tenantId: TenantId,
  serverTenant: TenantId,
  { idTag, place, isKnown }: { idTag: string; place: string; isKnown: boolean },
): AttemptBucket[] {
  if (isKnown) return [{ tenantId, key: `device ${place} ${idTag}`, ...knownDevice }]
  return [
    { tenantId, key: `account ${idTag}`, ...account, isShared: true },
    { tenantId: serverTenant, key: `address ${place}`, ...address },
    ...networkBuckets(serverTenant, place),
    { tenantId: serverTenant, key: 'everybody', ...everybody, isShared: true },
  ]
}

/** Of IPv6 the /48 that a provider gives to one customer. */
function networkBuckets(tenantId: TenantId, place: string): AttemptBucket[] {
  if (!place.includes(':')) return []
  return [{ tenantId, key: `network ${place.split(':').slice(0, 3).join(':')}`, ...network }]
}

/** The turn of an address to sign in to one account. */
export function signInTurn(
  tenantId: TenantId,
  { idTag, place }: { readonly idTag: string; readonly place: string },
): AttemptTurn {
  return { tenantId, key: `turn ${place} ${idTag}` }
}

/** Takes one attempt from a bucket that is full until `fullUntilMs` (undefined = untouched): until when it is full
 * afterwards, and when there is room for the attempt. */
export function takeAttempt(
  { burst, refillMs }: Pace,
  fullUntilMs: number | undefined,
  nowMs: number,
): { readonly fullUntilMs: number; readonly roomAtMs: number } {
  const next = Math.max(fullUntilMs ?? 0, nowMs) + refillMs
  return { fullUntilMs: next, roomAtMs: next - burst * refillMs }
}
