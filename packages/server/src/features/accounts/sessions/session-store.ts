import { formatScope, type IdTag, parseScope, type Scope } from '@kith/protocol'
import { sql } from 'kysely'
import { type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import { personalMethods, type Session, type SessionMethod } from './session.ts'

interface SessionRow {
  tenant_id: TenantId
  sid: string
  caller_tag: IdTag | null
  method: SessionMethod
  scope: string | null
  secret_hash: string | null
  secret_prefix: string | null
  label: string | null
  created_at: number
  signed_in_at: number
  last_used_at: number
  expires_at: number | null
  ip: string
  user_agent: string | null
  revoked_at: number | null
  home_sid: string | null
}
interface SessionTables {
  sessions: SessionRow
}

const selectBySid = statement<SessionTables, { tenantId: TenantId; sid: string }, SessionRow>(
  (tables, value) =>
    tables
      .selectFrom('sessions')
      .selectAll()
      .where('tenant_id', '=', value('tenantId'))
      .where('sid', '=', value('sid'))
      .where('revoked_at', 'is', null),
)

const selectBySecret = statement<SessionTables, { tenantId: TenantId; hash: string }, SessionRow>(
  (tables, value) =>
    tables
      .selectFrom('sessions')
      .selectAll()
      .where('tenant_id', '=', value('tenantId'))
      .where('secret_hash', '=', value('hash'))
      .where('revoked_at', 'is', null),
)

/** A session that has not been revoked; the caller checks whether it has expired. */
export async function findSession(reader: Reader, sid: string): Promise<Session | undefined> {
  const row = await reader.first(selectBySid, { tenantId: reader.tenantId, sid })
  return row && fromRow(row)
}

export async function findSessionBySecret(reader: Reader, hash: string): Promise<Session | undefined> {
  const row = await reader.first(selectBySecret, { tenantId: reader.tenantId, hash })
  return row && fromRow(row)
}

/** A session, by what it is stored under. */
export interface SessionKey {
  readonly tenantId: TenantId
  readonly sid: string
}

export interface LiveSession extends SessionKey, Pick<Session, 'homeSid'> {}

/** NOTE: over all tenants: which of these sessions neither were revoked nor have expired. One query, whatever their
 * number; both databases take twice as many values as sockets may be open. */
export async function listLiveSessions(
  reader: Reader,
  keys: readonly SessionKey[],
  now: number,
): Promise<LiveSession[]> {
  if (keys.length === 0) return []
  // The first row tells PostgreSQL what the values are.
  const values = keys.map(({ tenantId, sid }) => sql`(cast(${tenantId} as bigint), cast(${sid} as text))`)
  const rows = await reader
    .tables<SessionTables>()
    .selectFrom('sessions')
    .select(['tenant_id', 'sid', 'home_sid'])
    .where(sql<boolean>`(tenant_id, sid) in (values ${sql.join(values)})`)
    .where('revoked_at', 'is', null)
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', now)]))
    .execute()
  return rows.map(({ tenant_id, sid, home_sid }) => ({
    tenantId: tenant_id,
    sid,
    ...(home_sid === null ? {} : { homeSid: home_sid }),
  }))
}

/** Sessions of an identity that have not been revoked, last used first; `liveAt` leaves out those that have ended. */
export async function listSessions(
  reader: Reader,
  filter: { callerTag: IdTag; methods: readonly SessionMethod[]; liveAt?: number },
): Promise<Session[]> {
  const { callerTag, methods, liveAt } = filter
  let query = reader
    .tables<SessionTables>()
    .selectFrom('sessions')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('caller_tag', '=', callerTag)
    .where('method', 'in', methods)
    .where('revoked_at', 'is', null)
  if (liveAt !== undefined)
    query = query.where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', liveAt)]))
  const rows = await query.orderBy('last_used_at', 'desc').orderBy('sid').limit(maxListed).execute()
  return rows.map(fromRow)
}

/** The live session of an app within another session. `now`: Unix seconds. */
export async function findAppSession(
  reader: Reader,
  { callerTag, homeSid, label, now }: { callerTag: IdTag; homeSid: string; label: string; now: number },
): Promise<Session | undefined> {
  const row = await reader
    .tables<SessionTables>()
    .selectFrom('sessions')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('caller_tag', '=', callerTag)
    .where('method', '=', 'app')
    .where('home_sid', '=', homeSid)
    .where('label', '=', label)
    .where('revoked_at', 'is', null)
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', now)]))
    .limit(1)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** When the people of several tenants have last signed in, Unix seconds, as far as a session of that time is kept. */
export async function listLastSignIns(
  reader: Reader,
  tenantIds: readonly TenantId[],
): Promise<ReadonlyMap<TenantId, number>> {
  if (tenantIds.length === 0) return new Map()
  const rows = await reader
    .tables<SessionTables>()
    .selectFrom('sessions')
    .select((row) => ['tenant_id', row.fn.max('signed_in_at').as('signed_in_at')])
    .where('tenant_id', 'in', tenantIds)
    .where('method', 'in', personalMethods)
    .groupBy('tenant_id')
    .execute()
  return new Map(rows.map((row) => [row.tenant_id as TenantId, Number(row.signed_in_at)]))
}

/** Has this person signed in here from this address before, in a session that is not long over? */
export async function hasSignedInFrom(reader: Reader, callerTag: IdTag, ip: string): Promise<boolean> {
  const row = await reader
    .tables<SessionTables>()
    .selectFrom('sessions')
    .select('sid')
    .where('tenant_id', '=', reader.tenantId)
    .where('caller_tag', '=', callerTag)
    .where('ip', '=', ip)
    .where('method', 'in', personalMethods)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

// A list without pages: people have fewer devices than this, and older sessions can still be revoked all at once.
const maxListed = 200

/** False when there is a session with this id already. */
export async function insertSession(
  tx: Writer,
  session: Session,
  options: { secretHash?: string } = {},
): Promise<boolean> {
  const inserted = await tx
    .tables<SessionTables>()
    .insertInto('sessions')
    .values({
      tenant_id: tx.tenantId,
      sid: session.sid,
      caller_tag: session.callerTag ?? null,
      method: session.method,
      scope: session.scope ? formatScope(session.scope) : null,
      secret_hash: options.secretHash ?? null,
      secret_prefix: session.secretPrefix ?? null,
      label: session.label ?? null,
      created_at: session.createdAt,
      signed_in_at: session.signedInAt,
      last_used_at: session.lastUsedAt,
      expires_at: session.expiresAt ?? null,
      ip: session.ip,
      user_agent: session.userAgent ?? null,
      revoked_at: null,
      home_sid: session.homeSid ?? null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Undefined members stay as they are; `scope: null` = no limit, `expiresAt: null` = never. */
export async function updateSession(
  tx: Writer,
  sid: string,
  change: {
    readonly scope?: Scope | null | undefined
    readonly label?: string | undefined
    readonly expiresAt?: number | null | undefined
  },
): Promise<void> {
  const scope = change.scope && formatScope(change.scope)
  const { expiresAt } = change
  if (scope === undefined && change.label === undefined && expiresAt === undefined) return
  await tx
    .tables<SessionTables>()
    .updateTable('sessions')
    .set({
      ...(scope === undefined ? {} : { scope }),
      ...(change.label === undefined ? {} : { label: change.label }),
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('sid', '=', sid)
    .execute()
}

export async function updateSid(tx: Writer, sid: string, newSid: string): Promise<void> {
  await tx
    .tables<SessionTables>()
    .updateTable('sessions')
    .set({ sid: newSid })
    .where('tenant_id', '=', tx.tenantId)
    .where('sid', '=', sid)
    .execute()
}

export async function updateLastUse(tx: Writer, sid: string, usedAt: number): Promise<void> {
  await tx
    .tables<SessionTables>()
    .updateTable('sessions')
    .set({ last_used_at: usedAt })
    .where('tenant_id', '=', tx.tenantId)
    .where('sid', '=', sid)
    .where('last_used_at', '<', usedAt)
    .execute()
}

export interface RevocationFilter {
  readonly sid?: string
  readonly exceptSid?: string
  readonly callerTag?: IdTag
  readonly methods?: readonly SessionMethod[]
  readonly label?: string
  /** Those within these. */
  readonly homeSids?: readonly string[]
  /** Unix seconds: those who last proved who they are then or earlier. */
  readonly signedInUpTo?: number
}

/** The sessions that it ended. */
export async function markRevoked(
  tx: Writer,
  now: number,
  filter: RevocationFilter,
): Promise<Pick<Session, 'sid' | 'callerTag' | 'method'>[]> {
  let query = tx
    .tables<SessionTables>()
    .updateTable('sessions')
    .set({ revoked_at: now })
    .where('tenant_id', '=', tx.tenantId)
    .where('revoked_at', 'is', null)
  if (filter.sid !== undefined) query = query.where('sid', '=', filter.sid)
  if (filter.exceptSid !== undefined) query = query.where('sid', '!=', filter.exceptSid)
  if (filter.callerTag !== undefined) query = query.where('caller_tag', '=', filter.callerTag)
  if (filter.homeSids) query = query.where('home_sid', 'in', filter.homeSids)
  if (filter.signedInUpTo !== undefined) query = query.where('signed_in_at', '<=', filter.signedInUpTo)
  if (filter.label !== undefined) query = query.where('label', '=', filter.label)
  if (filter.methods) query = query.where('method', 'in', filter.methods)
  const rows = await query.returning(['sid', 'caller_tag', 'method']).execute()
  return rows.map(({ sid, caller_tag, method }) => ({
    sid,
    method,
    ...(caller_tag === null ? {} : { callerTag: caller_tag }),
  }))
}

/** Removes rows whose tokens are all expired or revoked; an expired API key stays to be seen until its owner removes
 * it. */
export async function deleteEndedSessions(tx: Writer, endedBefore: number): Promise<void> {
  const own = tx.tables<SessionTables>().deleteFrom('sessions').where('tenant_id', '=', tx.tenantId)
  await own.where('expires_at', '<', endedBefore).where('method', '!=', 'apikey').execute()
  await own.where('revoked_at', '<', endedBefore).execute()
}

function fromRow(row: SessionRow): Session {
  return {
    sid: row.sid,
    method: row.method,
    createdAt: row.created_at,
    signedInAt: row.signed_in_at,
    lastUsedAt: row.last_used_at,
    ip: row.ip,
    ...(row.caller_tag === null ? {} : { callerTag: row.caller_tag }),
    // A scope that this program cannot read gives nothing rather than everything.
    ...(row.scope === null ? {} : { scope: parseScope(row.scope) ?? [] }),
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    ...(row.home_sid === null ? {} : { homeSid: row.home_sid }),
    ...(row.user_agent === null ? {} : { userAgent: row.user_agent }),
    ...(row.label === null ? {} : { label: row.label }),
    ...(row.secret_prefix === null ? {} : { secretPrefix: row.secret_prefix }),
  }
}
