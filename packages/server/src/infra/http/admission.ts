import { type Contract, isForSigningIn, type TenantFeature } from '@kith/protocol'
import { type AnyCaller, guest, type Tenant } from '#infra/caller/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { authorize } from './authorize.ts'
import type { Exchange } from './exchange.ts'
import { rateKeyOf } from './peer.ts'
import { type RateLimitName, type RateLimits, type RateVerdict, rateFailure } from './rate-limits.ts'
import type { Route } from './route.ts'

/** A tenant as its host knows it. */
export interface HostTenant extends Tenant {
  /** Unix seconds: since then it answers nobody. */
  readonly suspendedAt?: number
}

/** What the server asks of the application. */
export interface HttpHooks {
  /** The tenant of a host, which is in lower case without port; asked for every request, so it should be cached. */
  findTenant(host: string): HostTenant | undefined | Promise<HostTenant | undefined>
  /** The caller whom a bearer proves. Throws `E-AUTH-UNAUTH` for a bearer that is not good on this tenant. */
  authenticate(presented: {
    readonly tenant: Tenant
    readonly bearer: string
    readonly ip: string
  }): AnyCaller | Promise<AnyCaller>
  /** Does the tenant offer this part of the server? None is offered where nobody says. */
  hasFeature?(tenant: Tenant, feature: TenantFeature): Promise<boolean>
  /** Throws when the server can store nothing for this endpoint at present. */
  assertStorable?(contract: Contract): Promise<void>
}

export interface AdmissionDeps {
  readonly hooks: HttpHooks
  readonly rateLimits: RateLimits
  readonly clock: Clock
}

/** Whom a request is from and for, after everything its contract asks of them has been checked. */
export interface Admission {
  readonly tenant: Tenant | undefined
  readonly caller: AnyCaller
}

/** Tenant, rate, credential, scope and role, in this order. */
export async function admit(
  deps: AdmissionDeps,
  route: Route,
  exchange: Exchange,
  bearer: string | undefined,
): Promise<Admission> {
  const { contract } = route
  const { peer } = exchange
  const found = peer.host === undefined ? undefined : deps.hooks.findTenant(peer.host)
  const named = found instanceof Promise ? await found : found
  const isClosed = named?.suspendedAt !== undefined
  // What answers on every host knows nothing of a tenant that answers nobody.
  const tenant = isClosed && contract.anyHost ? undefined : named
  const addressKey = rateKeyOf(peer.ip)
  const isCredentialed = bearer !== undefined && tenant !== undefined
  if (!isCredentialed) await takeGeneral(deps, exchange, generalBucketOf(contract), addressKey)
  if (!tenant && !contract.anyHost) throw new Failure('E-PROFILE-NOTFOUND')
  if (tenant && isClosed && !contract.whileSuspended)
    return turnAway(deps, route, exchange, { tenant, bearer, ip: peer.ip })
  if (contract.feature && !(await offers(deps, tenant, contract.feature))) {
    if (isCredentialed) await takeGeneral(deps, exchange, 'anonymous', addressKey)
    throw new Failure('E-NOTFOUND')
  }
  const caller = isCredentialed
    ? await identify(deps, route, exchange, { tenant, bearer, ip: peer.ip })
    : guest
  // After the bearer: a bad one takes from a bucket of its own, and leaves this to the good ones of its address.
  if (contract.bucket && contract.bucket !== 'general' && contract.bucket !== 'inbox')
    await takeTight(deps, contract.bucket, addressKey)
  const refusal = authorize(contract, caller)
  if (refusal) throw new Failure(refusal)
  if (contract.method !== 'GET') await deps.hooks.assertStorable?.(contract)
  return { tenant, caller: contract.auth === 'none' ? guest : caller }
}

/** A suspended tenant is like one that is not there, but that its owner is told where people sign in,
 * and that old bearers are bad ones. */
async function turnAway(
  deps: AdmissionDeps,
  route: Route,
  exchange: Exchange,
  { tenant, bearer, ip }: { tenant: Tenant; bearer: string | undefined; ip: string },
): Promise<never> {
  if (isForSigningIn(route.contract)) {
    if (bearer !== undefined) await takeGeneral(deps, exchange, 'anonymous', rateKeyOf(ip))
    throw new Failure('E-AUTH-FORBIDDEN', { message: 'This account is suspended.' })
  }
  if (bearer !== undefined) await identify(deps, route, exchange, { tenant, bearer, ip })
  throw new Failure('E-PROFILE-NOTFOUND')
}

async function offers({ hooks }: AdmissionDeps, tenant: Tenant | undefined, feature: TenantFeature) {
  return tenant !== undefined && (await hooks.hasFeature?.(tenant, feature)) === true
}

/** Servers show no bearer to an inbox, and send more than a person does: its bucket takes the place of the general one. */
function generalBucketOf({ bucket }: Contract): RateLimitName {
  return bucket === 'inbox' || bucket === 'inbox-sync' ? 'inbox' : 'anonymous'
}

/** The caller of a bearer. A tenant's owner has a bucket of its own, visitors have one each and one for their address;
 * everybody else shares that of the address. However many bad ones an address has shown, each is looked at: somebody
 * else may be behind the same address. What that may cost is bounded where it costs (`sessions/proxy-token.ts`). */
async function identify(
  deps: AdmissionDeps,
  route: Route,
  exchange: Exchange,
  presented: Parameters<HttpHooks['authenticate']>[0],
): Promise<AnyCaller> {
  const addressKey = rateKeyOf(presented.ip)
  const caller = await findCaller(deps, presented)
  if (caller instanceof Failure) {
    await takeGeneral(deps, exchange, 'bad-bearer', addressKey)
    if (!route.contract.ignoresBadBearer) throw caller
    await takeGeneral(deps, exchange, 'anonymous', addressKey)
    return guest
  }
  if (caller.kind !== 'identity') await takeGeneral(deps, exchange, 'anonymous', addressKey)
  else if (caller.isAdmin) exchange.verdict = unlimited(deps.clock)
  else {
    if (!caller.isOwner) await takeGeneral(deps, exchange, 'visitor', addressKey)
    await takeGeneral(deps, exchange, 'identity', caller.idTag)
  }
  return caller
}

/** The failure of a bearer that is no good here is answered, not thrown: it still has to be counted. */
async function findCaller(
  { hooks }: AdmissionDeps,
  presented: Parameters<HttpHooks['authenticate']>[0],
): Promise<AnyCaller | Failure> {
  if (presented.bearer === '') return new Failure('E-AUTH-UNAUTH')
  try {
    return await hooks.authenticate(presented)
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-AUTH-UNAUTH') return error
    throw error
  }
}

/** Takes one from the bucket whose state the answer shows. */
export async function takeGeneral(
  deps: Pick<AdmissionDeps, 'rateLimits' | 'clock'>,
  exchange: Exchange,
  name: RateLimitName,
  key: string,
): Promise<void> {
  const taken = deps.rateLimits.take(name, key)
  const verdict = taken instanceof Promise ? await taken : taken
  exchange.verdict = verdict
  if (!verdict.isAllowed) throw rateFailure(verdict, deps.clock)
}

async function takeTight(deps: AdmissionDeps, name: RateLimitName, key: string): Promise<void> {
  const verdict = await deps.rateLimits.take(name, key)
  if (!verdict.isAllowed) throw rateFailure(verdict, deps.clock)
}

// The largest number that every client's integers hold stands for "no limit".
const noLimit = 2 ** 31 - 1

function unlimited(clock: Clock): RateVerdict {
  const resetAtSecs = Math.ceil((clock.now() + 60_000) / 1000)
  return { isAllowed: true, limit: noLimit, remaining: noLimit, resetAtSecs }
}
