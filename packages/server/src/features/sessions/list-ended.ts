import type { IdTag } from '@kith/protocol'
import type { Tenants } from '#features/tenants/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { HeldCredential } from './authenticator.ts'
import { listLiveSessions, type SessionKey } from './session-store.ts'

export interface ListEndedDeps {
  readonly db: Database
  readonly clock: Clock
  readonly tenants: Pick<Tenants, 'findById'>
  /** Whom of these the server has suspended or banned. */
  listBarred(idTags: readonly IdTag[]): Promise<readonly IdTag[]>
}

/** Which of these credentials have nothing behind them any more: two queries, however many there are. */
export async function listEnded(
  deps: ListEndedDeps,
  held: readonly HeldCredential[],
): Promise<ReadonlySet<HeldCredential>> {
  const [live, barred, suspended] = await Promise.all([
    findLive(deps, held),
    findBarred(deps, held),
    findSuspended(deps, held),
  ])
  const hasEnded = ({ tenant, credential }: HeldCredential) =>
    suspended.has(tenant.tenantId) ||
    (credential.sid !== undefined && !live.has(nameOf({ ...tenant, sid: credential.sid }))) ||
    (credential.callerTag !== undefined && barred.has(credential.callerTag))
  return new Set(held.filter(hasEnded))
}

async function findLive({ db, clock }: ListEndedDeps, held: readonly HeldCredential[]): Promise<Set<string>> {
  const keys = held.flatMap(({ tenant: { tenantId }, credential: { sid } }) =>
    sid === undefined ? [] : [{ tenantId, sid }],
  )
  const distinct = new Map(keys.map((key) => [nameOf(key), key]))
  const live = await listLiveSessions(db.reader(serverTenant), [...distinct.values()], nowSecs(clock))
  return new Set(live.map(nameOf))
}

/** A tenant's own identity is suspended as a tenant. */
async function findBarred(deps: ListEndedDeps, held: readonly HeldCredential[]): Promise<Set<IdTag>> {
  const visitors = held.flatMap(({ tenant, credential: { callerTag } }) =>
    callerTag === undefined || callerTag === tenant.idTag ? [] : [callerTag],
  )
  return new Set(visitors.length === 0 ? [] : await deps.listBarred([...new Set(visitors)]))
}

async function findSuspended({ tenants }: ListEndedDeps, held: readonly HeldCredential[]) {
  const tenantIds = [...new Set(held.map(({ tenant }) => tenant.tenantId))]
  const found = await Promise.all(tenantIds.map((tenantId) => tenants.findById(tenantId)))
  return new Set(tenantIds.filter((_, at) => !found[at] || found[at].suspendedAt !== undefined))
}

function nameOf({ tenantId, sid }: SessionKey): string {
  return `${tenantId} ${sid}`
}
