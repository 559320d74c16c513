import { isForSigningIn, type Requirements, type TenantFeature } from '@kith/protocol'
import { type AnyCaller, guest, type Tenant } from '#infra/caller/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { authorize } from './authorize.ts'
import { rateKeyOf } from './peer.ts'
import { assertRate, type RateLimits } from './rate-limits.ts'

/** A tenant as its host knows it. */
interface HostTenant extends Tenant {
  /** Unix seconds: since then it answers nobody. */
  readonly suspendedAt?: number
}

/** A bearer, and where it was shown. */
export interface PresentedBearer {
  readonly tenant: Tenant
  readonly bearer: string
  readonly ip: string
}

/** Who somebody is, and what proved it; `Credential` is what the application can look at again later. */
export interface Proof<Credential = unknown> {
  readonly caller: AnyCaller
  readonly credential?: Credential | undefined
}

/** What admission asks of the application. */
export interface AdmissionHooks<Credential = unknown> {
  /** The tenant of a host, which is in lower case without port; asked for every request, so it should be cached. */
  findTenant(host: string): HostTenant | undefined | Promise<HostTenant | undefined>
  /** Whom a bearer proves. Throws `E-AUTH-UNAUTH` for a bearer that is not good on this tenant. */
  authenticate(presented: PresentedBearer): Proof<Credential> | Promise<Proof<Credential>>
  /** Does the tenant offer this part of the server? None is offered where nobody says. */
  hasFeature?(tenant: Tenant, feature: TenantFeature): Promise<boolean>
}

export interface AdmissionDeps<Credential = unknown> {
  readonly hooks: AdmissionHooks<Credential>
  readonly rateLimits: RateLimits
  readonly clock: Clock
}

/** What somebody shows who comes. */
interface Presented {
  readonly host: string | undefined
  readonly ip: string
  readonly bearer: string | undefined
}

/** How a transport counts those who come. Each throws `E-RATELIMIT` when there were too many. */
export interface Counting {
  /** Somebody of whom the address is known and nothing else. */
  stranger(): void | Promise<void>
  /** However many bad ones an address has shown, each is looked at: somebody else may be behind the same address. What
   * that may cost is bounded where it costs. */
  badBearer(): void | Promise<void>
  known(caller: AnyCaller): void | Promise<void>
}

/** The tenant that is asked for: known, not suspended, and offering what is asked of it. Undefined only where the
 * requirements take any host. */
export async function admitToTenant<Credential>(
  deps: AdmissionDeps<Credential>,
  requirements: Requirements,
  { host, ip, bearer }: Presented,
  counting: Counting,
): Promise<Tenant | undefined> {
  const found = host === undefined ? undefined : deps.hooks.findTenant(host)
  const named = found instanceof Promise ? await found : found
  const isClosed = named?.suspendedAt !== undefined
  // What answers on every host knows nothing of a tenant that answers nobody.
  const tenant = isClosed && requirements.anyHost ? undefined : named
  const presented = tenant && bearer !== undefined ? { tenant, bearer, ip } : undefined
  if (!presented) await counting.stranger()
  if (!tenant && !requirements.anyHost) throw new Failure('E-PROFILE-NOTFOUND')
  if (tenant && isClosed && !requirements.whileSuspended)
    return turnAway(deps, requirements, presented, counting)
  if (requirements.feature && !(await offers(deps, tenant, requirements.feature))) {
    if (presented) await counting.stranger()
    throw new Failure('E-NOTFOUND')
  }
  return tenant
}

/** A suspended tenant is like one that is not there, but that its owner is told where people sign in,
 * and that old bearers are bad ones. */
async function turnAway<Credential>(
  deps: AdmissionDeps<Credential>,
  requirements: Requirements,
  presented: PresentedBearer | undefined,
  counting: Counting,
): Promise<never> {
  if (isForSigningIn(requirements)) {
    if (presented) await counting.stranger()
    throw new Failure('E-AUTH-FORBIDDEN', { message: 'This account is suspended.' })
  }
  if (presented) await identify(deps, requirements, presented, counting)
  throw new Failure('E-PROFILE-NOTFOUND')
}

async function offers(
  { hooks }: Pick<AdmissionDeps, 'hooks'>,
  tenant: Tenant | undefined,
  feature: TenantFeature,
): Promise<boolean> {
  return tenant !== undefined && (await hooks.hasFeature?.(tenant, feature)) === true
}

/** Who comes to a tenant, after credential, tight bucket, scope and role. */
export async function admitCaller<Credential>(
  deps: AdmissionDeps<Credential>,
  requirements: Requirements,
  { tenant, bearer, ip }: Omit<Presented, 'host'> & { readonly tenant: Tenant | undefined },
  counting: Counting,
): Promise<Proof<Credential>> {
  const proof =
    tenant && bearer !== undefined
      ? await identify(deps, requirements, { tenant, bearer, ip }, counting)
      : { caller: guest }
  // After the bearer: a bad one takes from a bucket of its own, and leaves this to the good ones of its address.
  const { bucket } = requirements
  if (bucket && bucket !== 'general' && bucket !== 'inbox') await assertRate(deps, bucket, rateKeyOf(ip))
  return authorized(requirements, proof)
}

function authorized<Credential>(requirements: Requirements, proof: Proof<Credential>): Proof<Credential> {
  const refusal = authorize(requirements, proof.caller)
  if (refusal) throw new Failure(refusal)
  return requirements.auth === 'none' ? { caller: guest } : proof
}

/** The same for another bearer of somebody who has been admitted; it is not counted again. */
export async function admitAgain<Credential>(
  { hooks }: Pick<AdmissionDeps<Credential>, 'hooks'>,
  requirements: Requirements,
  presented: PresentedBearer,
): Promise<Proof<Credential>> {
  return authorized(requirements, await hooks.authenticate(presented))
}

async function identify<Credential>(
  deps: AdmissionDeps<Credential>,
  { ignoresBadBearer }: Requirements,
  presented: PresentedBearer,
  counting: Counting,
): Promise<Proof<Credential>> {
  const proof = await prove(deps, presented)
  if (proof instanceof Failure) {
    await counting.badBearer()
    if (!ignoresBadBearer) throw proof
    await counting.stranger()
    return { caller: guest }
  }
  await counting.known(proof.caller)
  return proof
}

/** The failure of a bearer that is no good here is answered, not thrown: it still has to be counted. */
async function prove<Credential>(
  { hooks }: Pick<AdmissionDeps<Credential>, 'hooks'>,
  presented: PresentedBearer,
): Promise<Proof<Credential> | Failure> {
  if (presented.bearer === '') return new Failure('E-AUTH-UNAUTH')
  try {
    return await hooks.authenticate(presented)
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-AUTH-UNAUTH') return error
    throw error
  }
}
