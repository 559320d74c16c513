import type { IdTag } from '@kith/protocol'
import type { Tenants } from '#features/tenants/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { HeldCredential } from './authenticator.ts'
import { type LiveSession, listLiveSessions, type SessionKey } from './session-store.ts'

interface ListEndedDeps {
  readonly db: Database
  readonly clock: Clock
  readonly tenants: Pick<Tenants, 'find' | 'findById'>
  /** Which of these identities the server has suspended or banned. */
  listSuspendedOrBanned(idTags: readonly IdTag[]): Promise<readonly IdTag[]>
}

/** Which of these credentials have ended: three queries at most, however many there are. */
export async function listEnded(
  deps: ListEndedDeps,
  held: readonly HeldCredential[],
): Promise<ReadonlySet<HeldCredential>> {
  const [signedOut, barred, suspended] = await Promise.all([
    findSignedOut(deps, held),
    findSuspendedOrBanned(deps, held),
    findSuspended(deps, held),
  ])
  const hasEnded = (one: HeldCredential) =>
    signedOut.has(one) ||
    suspended.has(one.tenant.tenantId) ||
    (one.credential.callerTag !== undefined && barred.has(one.credential.callerTag))
  return new Set(held.filter(hasEnded))
}

async function findSignedOut(
  deps: ListEndedDeps,
  held: readonly HeldCredential[],
): Promise<Set<HeldCredential>> {
  const here = await findLive(deps, held.flatMap(keyHere))
  const away = new Map<HeldCredential, SessionKey>()
  for (const one of held) {
    const key = await keyAtHome(deps, one, here)
    if (key) away.set(one, key)
  }
  const atHome = away.size === 0 ? here : await findLive(deps, [...away.values()])
  const isLive = (key: SessionKey | undefined, live: typeof here) => !key || live.has(nameOf(key))
  return new Set(held.filter((one) => !isLive(keyHere(one)[0], here) || !isLive(away.get(one), atHome)))
}

function keyHere({ tenant, credential: { sid } }: HeldCredential): SessionKey[] {
  return sid === undefined ? [] : [{ tenantId: tenant.tenantId, sid }]
}

/** Of a visitor from this server: the session at home with which the visit ends. */
async function keyAtHome(
  { tenants }: ListEndedDeps,
  one: HeldCredential,
  here: ReadonlyMap<string, LiveSession>,
): Promise<SessionKey | undefined> {
  const { callerTag, proxy } = one.credential
  const [key] = keyHere(one)
  const sid = (key && here.get(nameOf(key))?.homeSid) ?? proxy?.homeSid
  const home = sid === undefined || callerTag === undefined ? undefined : await tenants.find(callerTag)
  return home && sid !== undefined ? { tenantId: home.tenantId, sid } : undefined
}

async function findLive(
  { db, clock }: ListEndedDeps,
  keys: readonly SessionKey[],
): Promise<ReadonlyMap<string, LiveSession>> {
  const distinct = new Map(keys.map((key) => [nameOf(key), key]))
  const live = await listLiveSessions(db.reader(serverTenant), [...distinct.values()], nowSecs(clock))
  return new Map(live.map((session) => [nameOf(session), session]))
}

/** A tenant's own identity is suspended as a tenant. */
async function findSuspendedOrBanned(
  deps: ListEndedDeps,
  held: readonly HeldCredential[],
): Promise<Set<IdTag>> {
  const visitors = held.flatMap(({ tenant, credential: { callerTag } }) =>
    callerTag === undefined || callerTag === tenant.idTag ? [] : [callerTag],
  )
  return new Set(visitors.length === 0 ? [] : await deps.listSuspendedOrBanned([...new Set(visitors)]))
}

async function findSuspended({ tenants }: ListEndedDeps, held: readonly HeldCredential[]) {
  const tenantIds = [...new Set(held.map(({ tenant }) => tenant.tenantId))]
  const found = await Promise.all(tenantIds.map((tenantId) => tenants.findById(tenantId)))
  return new Set(tenantIds.filter((_, at) => !found[at] || found[at].suspendedAt !== undefined))
}

function nameOf({ tenantId, sid }: SessionKey): string {
  return `${tenantId} ${sid}`
}
