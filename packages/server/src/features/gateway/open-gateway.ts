import type { Contract, IdTag } from '@kith/protocol'
import { listEffectiveRelations } from '#features/relations/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Answer, Call, Gateway, GatewayPassage, GatewayVisit } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import { Gate } from '#lib/gate.ts'
import { type AskDeps, askElsewhere } from './ask-elsewhere.ts'
import { type Visa, type VisitorTokenDeps, VisitorTokens } from './visitor-tokens.ts'

export interface GatewayDeps extends VisitorTokenDeps {
  readonly db: Database
  /** Has the server's operator blocked the domain of an identity? */
  isDomainBlocked(idTag: IdTag): Promise<boolean>
  readonly egress: VisitorTokenDeps['egress'] & AskDeps['json']['egress']
  /** For files, with connections of its own. */
  readonly byteEgress: AskDeps['bytes']['egress']
}

// Requests to other servers at once, for files and for everything else. A page of pictures asks for all of them; 128 answers of
// JSON are 512 MiB at most.
const gateLimits = { total: 128, perKey: 12, waitingPerKey: 256, waiting: 1024 }

/** The gateway of a server: who may be called, with which token, and how the answers are read. */
export class OwnersGateway implements Gateway {
  readonly #deps: GatewayDeps
  readonly #tokens: VisitorTokens
  readonly #lanes: AskDeps

  constructor(deps: GatewayDeps) {
    this.#deps = deps
    this.#tokens = new VisitorTokens(deps)
    this.#lanes = {
      clock: deps.clock,
      json: { egress: deps.egress, gate: new Gate(gateLimits) },
      bytes: { egress: deps.byteEgress, gate: new Gate(gateLimits) },
    }
  }

  async enter(visit: GatewayVisit): Promise<GatewayPassage> {
    const visa = await this.visaOf(visit)
    if (visa.isHere) return { kind: 'here', bearer: visa.bearer }
    return { kind: 'elsewhere', ask: (contract, call) => this.#ask(visit, visa, { contract, call }) }
  }

  /** What shows the owner at the target, for sockets as well. */
  async visaOf(visit: GatewayVisit): Promise<Visa> {
    await this.assertCallable(visit)
    return this.#tokens.get(visit)
  }

  /** Throws for an identity that the tenant has blocked, or that is suspended or banned on this server, and for one in a blocked
   * domain. A token for it may have been made before. */
  async assertCallable(visit: GatewayVisit): Promise<void> {
    if (await this.#isInBlockedDomain(visit.target)) throw new Failure('E-PROFILE-NOTFOUND')
    if ((await this.#listBlocked([visit])).length === 0) return
    this.#tokens.forget(visit)
    throw new Failure('E-AUTH-FORBIDDEN', { message: 'This identity is blocked.' })
  }

  /** Which of these would not be let in now: one query, whatever their number. Their tokens are forgotten. */
  async listUncallable<Visit extends GatewayVisit>(visits: readonly Visit[]): Promise<Visit[]> {
    const uncallable = new Set(await this.#listBlocked(visits))
    for (const visit of visits) if (await this.#isInBlockedDomain(visit.target)) uncallable.add(visit)
    for (const visit of uncallable) this.#tokens.forget(visit)
    return [...uncallable]
  }

  async #listBlocked<Visit extends GatewayVisit>(visits: readonly Visit[]): Promise<Visit[]> {
    if (visits.length === 0) return []
    const tenantIds = [...new Set(visits.map(({ tenant }) => tenant.tenantId))]
    const targets = [...new Set(visits.map(({ target }) => target))]
    const reader = this.#deps.db.reader(serverTenant)
    const relationOf = await listEffectiveRelations(reader, tenantIds, targets)
    return visits.filter(({ tenant, target }) => relationOf(tenant.tenantId, target)?.isBlocked)
  }

  async #isInBlockedDomain(target: IdTag): Promise<boolean> {
    const { tenants, isDomainBlocked } = this.#deps
    return (await isDomainBlocked(target)) && !(await tenants.find(target))
  }

  forget(visit: GatewayVisit): void {
    this.#tokens.forget(visit)
  }

  /** A session, or all of a tenant's, have ended. */
  forgetSession(tenantId: number, sid: string | undefined): void {
    this.#tokens.forgetSession(tenantId, sid)
  }

  /** A token that is refused is made anew, once; what has been sent cannot be sent again, where it was a stream. */
  async #ask(
    visit: GatewayVisit,
    visa: Visa,
    asked: { readonly contract: Contract; readonly call: Call<Contract> },
  ): Promise<Answer<Contract>> {
    try {
      return await askElsewhere(this.#lanes, { ...asked, visa })
    } catch (error) {
      if (!isRefusedToken(error)) throw error
      this.#tokens.forget(visit)
      if (visa.isFresh) throw notAccepted()
      if (asked.contract.body?.kind === 'bytes') throw new Failure('E-UNAVAILABLE', { retryAfterSecs: 1 })
    }
    try {
      return await askElsewhere(this.#lanes, { ...asked, visa: await this.#tokens.get(visit) })
    } catch (error) {
      throw isRefusedToken(error) ? notAccepted() : error
    }
  }
}

function isRefusedToken(error: unknown): boolean {
  return error instanceof Failure && error.code === 'E-AUTH-UNAUTH'
}

function notAccepted(): Failure {
  return new Failure('E-AUTH-FORBIDDEN', { message: 'Your identity is not accepted there.' })
}
