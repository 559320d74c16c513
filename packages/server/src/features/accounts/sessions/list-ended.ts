import type { IdTag } from '@kith/protocol'
import type { HostedTenant, Tenants } from '#features/tenants/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { isLoggedOut, nothingEnded } from '../visits/visitor-logout.ts'
import { listLogouts, type Visitor } from '../visits/visitor-logout-store.ts'
import type { HeldCredential } from './authenticator.ts'
import { type LiveSession, listLiveSessions, type SessionKey } from './session-store.ts'

interface ListEndedDeps {
  readonly db: Database
  readonly clock: Clock
  readonly tenants: Pick<Tenants, 'listNow'>
  /** Which of these identities the server has suspended or banned. */
  listSuspendedOrBanned(idTags: readonly IdTag[]): Promise<readonly IdTag[]>
}

/** Which of these credentials have ended: five queries at most, however many there are, and nothing from memory. */
export async function listEnded(
  deps: ListEndedDeps,
  held: readonly HeldCredential[],
): Promise<ReadonlySet<HeldCredential>> {
  if (held.length === 0) return new Set()
  const tenants = await findTenants(deps, held)
  const [signedOut, loggedOut, barred] = await Promise.all([
    findSignedOut(deps, held, tenants),
    findLoggedOut(deps, held),
    findSuspendedOrBanned(deps, held),
  ])
  const hasEnded = (one: HeldCredential) => {
    const { callerTag } = one.credential
    const isBarred = callerTag !== undefined && (barred.has(callerTag) || isSuspended(tenants.get(callerTag)))
    const tenant = tenants.get(one.tenant.tenantId)
    const isOut = signedOut.has(one) || loggedOut.has(one)
    return isOut || isBarred || !tenant || isSuspended(tenant)
  }
  return new Set(held.filter(hasEnded))
}

/** Which of these tenants are suspended or gone. */
export async function listEndedTenants(
  { tenants }: Pick<ListEndedDeps, 'tenants'>,
  tenantIds: readonly TenantId[],
): Promise<ReadonlySet<TenantId>> {
  const found = tenantIds.length === 0 ? [] : await tenants.listNow({ tenantIds, idTags: [] })
  const live = new Set(found.flatMap((tenant) => (isSuspended(tenant) ? [] : [tenant.tenantId])))
  return new Set(tenantIds.filter((tenantId) => !live.has(tenantId)))
}

const isSuspended = (tenant: HostedTenant | undefined) => tenant?.suspendedAt !== undefined

type KnownTenants = ReadonlyMap<TenantId | IdTag, HostedTenant>

/** The tenants that are visited, by their numbers, and those of the visitors, by their names. */
async function findTenants(
  { tenants }: ListEndedDeps,
  held: readonly HeldCredential[],
): Promise<KnownTenants> {
  const tenantIds = [...new Set(held.map(({ tenant }) => tenant.tenantId))]
  const idTags = [...new Set(held.flatMap(({ credential }) => credential.callerTag ?? []))]
  const found = await tenants.listNow({ tenantIds, idTags })
  return new Map<TenantId | IdTag, HostedTenant>(
    found.flatMap((tenant) => [
      [tenant.tenantId, tenant],
      [tenant.idTag, tenant],
    ]),
  )
}

async function findSignedOut(
  deps: ListEndedDeps,
  held: readonly HeldCredential[],
  tenants: KnownTenants,
): Promise<Set<HeldCredential>> {
  const here = await findLive(deps, held.flatMap(keyHere))
  const away = new Map<HeldCredential, SessionKey>()
  for (const one of held) {
    const key = keyAtHome(one, here, tenants)
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
function keyAtHome(
  one: HeldCredential,
  here: ReadonlyMap<string, LiveSession>,
  tenants: KnownTenants,
): SessionKey | undefined {
  const { callerTag, proxy } = one.credential
  const [key] = keyHere(one)
  const sid = (key && here.get(nameOf(key))?.homeSid) ?? proxy?.homeSid
  const home = sid === undefined || callerTag === undefined ? undefined : tenants.get(callerTag)
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

/** Of proxy tokens that are held themselves: those of which their issuers say that they have ended. */
async function findLoggedOut(
  { db }: ListEndedDeps,
  held: readonly HeldCredential[],
): Promise<ReadonlySet<HeldCredential>> {
  const visits = held.flatMap((one) => {
    const { tenant, credential } = one
    const { proxy } = credential
    return proxy ? [{ one, proxy, tenantId: tenant.tenantId, callerTag: proxy.issuerTag }] : []
  })
  const visitors = new Map<string, Visitor>(
    visits.map(({ tenantId, callerTag }) => [`${tenantId} ${callerTag}`, { tenantId, callerTag }]),
  )
  const logouts = await listLogouts(db.reader(serverTenant), [...visitors.values()])
  const byVisitor = new Map(logouts.map((logout) => [`${logout.tenantId} ${logout.callerTag}`, logout]))
  const hasEnded = ({ proxy, tenantId, callerTag }: (typeof visits)[number]) =>
    isLoggedOut(byVisitor.get(`${tenantId} ${callerTag}`) ?? nothingEnded, proxy)
  return new Set(visits.filter(hasEnded).map(({ one }) => one))
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

function nameOf({ tenantId, sid }: SessionKey): string {
  return `${tenantId} ${sid}`
}
