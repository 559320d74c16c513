import { isForSigningIn, type Requirements, type TenantFeature } from '@kith/protocol'
import { type AnyCaller, guest, type Tenant } from '#infra/caller/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure, unauthenticated } from '#lib/failure.ts'
import { refusalOf } from './authorize.ts'
import { rateKeyOf } from './peer.ts'
import { assertRate, type RateLimits } from './rate-limits.ts'

/** A tenant as its host knows it. */
interface HostTenant extends Tenant {
  /** Unix seconds: since then it does not answer. */
  readonly suspendedAt?: number
}

/** A bearer, and where it was shown. */
export interface PresentedBearer {
  readonly tenant: Tenant
  readonly bearer: string
  readonly ip: string
}

/** A caller, and the credential that proved it; the application can check the credential again later. */
export interface Proof<Credential = unknown> {
  readonly caller: AnyCaller
  readonly credential?: Credential | undefined
}

/** What admission asks of the application. */
export interface AdmissionHooks<Credential = unknown> {
  /** The tenant of a host, which is in lower case without port; asked for every request, so it should be cached. */
  findTenant(host: string): HostTenant | undefined | Promise<HostTenant | undefined>
  /** The caller that a bearer proves. Throws `E-AUTH-UNAUTH` for a bearer that is not valid on this tenant. */
  authenticate(presented: PresentedBearer): Proof<Credential> | Promise<Proof<Credential>>
  /** Whether the tenant offers this part of the server; without the hook it offers none. */
  hasFeature?(tenant: Tenant, feature: TenantFeature): Promise<boolean>
}

export interface AdmissionDeps<Credential = unknown> {
  readonly hooks: AdmissionHooks<Credential>
  readonly rateLimits: RateLimits
  readonly clock: Clock
}

/** What a request or an upgrade presents. */
interface Presented {
  readonly host: string | undefined
  readonly ip: string
  readonly bearer: string | undefined
}

/** How a transport counts callers. Each function throws `E-RATELIMIT` when there were too many. */
export interface Counting {
  /** A caller of whom only the address is known. */
  stranger(): void | Promise<void>
  /** Bearers are checked however many bad ones an address has shown, as other callers may share the address. The cost of
   * the checks is bounded where they are made. */
  badBearer(): void | Promise<void>
  known(caller: AnyCaller): void | Promise<void>
}

/** The tenant of the host: known, not suspended, and offering the feature. Undefined only where the
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
  // Endpoints that answer on every host ignore a suspended tenant.
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

/** A suspended tenant answers like one that does not exist, but its owner is told at sign-in, and bearers from before
 * count as bad ones. */
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

/** Whether the tenant of a host, if there is one, offers this part of the server. */
export async function isOfferedAt(
  deps: Pick<AdmissionDeps, 'hooks'>,
  host: string | undefined,
  feature: TenantFeature,
): Promise<boolean> {
  return offers(deps, host === undefined ? undefined : await deps.hooks.findTenant(host), feature)
}

async function offers(
  { hooks }: Pick<AdmissionDeps, 'hooks'>,
  tenant: Tenant | undefined,
  feature: TenantFeature,
): Promise<boolean> {
  return tenant !== undefined && (await hooks.hasFeature?.(tenant, feature)) === true
}

/** The caller, after credential, tight bucket, scope and role have been checked. */
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
  // After the bearer: a bad one takes from another bucket, so that valid ones of the same address are not refused.
  const { bucket } = requirements
  if (bucket && bucket !== 'general' && bucket !== 'inbox') await assertRate(deps, bucket, rateKeyOf(ip))
  return authorized(requirements, proof)
}

function authorized<Credential>(requirements: Requirements, proof: Proof<Credential>): Proof<Credential> {
  const refusal = refusalOf(requirements, proof.caller)
  if (refusal) throw refusal
  return requirements.auth === 'none' ? { caller: guest } : proof
}

/** The same for another bearer of a caller who has been admitted; it is not counted again. */
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

/** The failure of an invalid bearer is returned, not thrown: it still has to be counted. */
async function prove<Credential>(
  { hooks }: Pick<AdmissionDeps<Credential>, 'hooks'>,
  presented: PresentedBearer,
): Promise<Proof<Credential> | Failure> {
  if (presented.bearer === '') return unauthenticated('malformed')
  try {
    return await hooks.authenticate(presented)
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-AUTH-UNAUTH') return error
    throw error
  }
}
