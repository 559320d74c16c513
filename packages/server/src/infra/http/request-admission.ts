import type { Contract, Requirements } from '@kith/protocol'
import type { AnyCaller, Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import {
  type AdmissionDeps,
  type AdmissionHooks,
  admitCaller,
  admitToTenant,
  type Counting,
} from './admission.ts'
import type { Exchange } from './exchange.ts'
import { rateKeyOf } from './peer.ts'
import { type RateLimitName, type RateVerdict, rateFailure } from './rate-limits.ts'

/** What the server asks of the application. */
export interface HttpHooks<Credential = unknown> extends AdmissionHooks<Credential> {
  /** Throws when the server can store nothing for this endpoint at present. */
  assertStorable?(contract: Contract): Promise<void>
  /** Which of these credentials have ended. */
  listEnded?(credentials: readonly Credential[]): Promise<ReadonlySet<Credential>>
  /** Which of these tenants are suspended or gone. */
  listEndedTenants?(tenantIds: readonly TenantId[]): Promise<ReadonlySet<TenantId>>
}

export interface RequestAdmissionDeps extends AdmissionDeps {
  readonly hooks: HttpHooks
}

/** The caller and the tenant of a request, after all that its contract requires of them has been checked. */
export interface Admission {
  readonly tenant: Tenant | undefined
  readonly caller: AnyCaller
}

/** Tenant, rate, credential, scope and role, in this order; and room to store what the endpoint may write. */
export async function admit(
  deps: RequestAdmissionDeps,
  contract: Contract,
  exchange: Exchange,
  bearer: string | undefined,
): Promise<Admission> {
  const admission = await admitRequest(deps, contract, exchange, bearer)
  if (contract.method !== 'GET') await deps.hooks.assertStorable?.(contract)
  return admission
}

/** Tenant, rate, credential, scope and role, in this order. */
export async function admitRequest(
  deps: RequestAdmissionDeps,
  requirements: Requirements,
  exchange: Exchange,
  bearer: string | undefined,
): Promise<Admission> {
  const { host, ip } = exchange.peer
  const counting = new RequestCounting(deps, requirements, exchange)
  const tenant = await admitToTenant(deps, requirements, { host, ip, bearer }, counting)
  exchange.tenant = tenant?.idTag
  const { caller, credential } = await admitCaller(deps, requirements, { tenant, ip, bearer }, counting)
  if (tenant && !requirements.whileSuspended)
    exchange.admitted = { tenant, credential, atMs: deps.clock.now() }
  return { tenant, caller }
}

/** A tenant's owner has a bucket of its own, visitors have one each and one for their address; everybody else shares that
 * of the address. */
class RequestCounting implements Counting {
  readonly #deps: CountingDeps
  readonly #requirements: Requirements
  readonly #exchange: Exchange

  constructor(deps: CountingDeps, requirements: Requirements, exchange: Exchange) {
    this.#deps = deps
    this.#requirements = requirements
    this.#exchange = exchange
  }

  /** Servers show no bearer to an inbox, and send more than a person does: its bucket takes the place of the general one. */
  stranger(): Promise<void> {
    const { bucket } = this.#requirements
    return this.#ofAddress(bucket === 'inbox' || bucket === 'inbox-sync' ? 'inbox' : 'anonymous')
  }

  badBearer(): Promise<void> {
    return this.#ofAddress('bad-bearer')
  }

  async known(caller: AnyCaller): Promise<void> {
    if (caller.kind !== 'identity') await this.#ofAddress('anonymous')
    else if (caller.isAdmin) this.#exchange.verdict = unlimited(this.#deps.clock)
    else {
      if (!caller.isOwner) await this.#ofAddress('visitor')
      await takeGeneral(this.#deps, this.#exchange, 'identity', caller.idTag)
    }
  }

  #ofAddress(name: RateLimitName): Promise<void> {
    return takeGeneral(this.#deps, this.#exchange, name, rateKeyOf(this.#exchange.peer.ip))
  }
}

type CountingDeps = Pick<AdmissionDeps, 'rateLimits' | 'clock'>

/** Takes one from the bucket whose state the answer shows. */
export async function takeGeneral(
  deps: CountingDeps,
  exchange: Exchange,
  name: RateLimitName,
  key: string,
): Promise<void> {
  const taken = deps.rateLimits.take(name, key)
  const verdict = taken instanceof Promise ? await taken : taken
  exchange.verdict = verdict
  if (!verdict.isAllowed) throw rateFailure(verdict, deps.clock)
}

// The largest number that every client's integers hold stands for "no limit".
const noLimit = 2 ** 31 - 1

function unlimited(clock: Clock): RateVerdict {
  const resetAtSecs = Math.ceil((clock.now() + 60_000) / 1000)
  return { isAllowed: true, limit: noLimit, remaining: noLimit, resetAtSecs }
}
