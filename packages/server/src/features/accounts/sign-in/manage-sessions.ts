import { type SessionView, toIso } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { personalMethods, type Session } from '../sessions/session.ts'
import { listSessions as listSessionRows } from '../sessions/session-store.ts'
import { type RevokeDeps, revokeSession } from '../sessions/start-session.ts'

interface Deps extends RevokeDeps {
  readonly db: Database
}

interface Input {
  readonly tenant: Tenant
  readonly caller: Identified
}

export async function listSessions(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  { tenant, caller }: Input,
): Promise<SessionView[]> {
  const sessions = await listSessionRows(db.reader(tenant.tenantId), {
    callerTag: caller.idTag,
    methods: personalMethods,
    liveAt: nowSecs(clock),
  })
  return sessions.map((session) => toView(session, caller.sessionId))
}

/** Ends one of the caller's own sessions; `E-NOTFOUND` for those of others. */
export async function endSession(
  deps: Deps,
  { tenant, caller, sid, ip }: Input & { sid: string; ip: string },
) {
  await deps.db.transact(tenant.tenantId, async (tx) => {
    const own = { sid, callerTag: caller.idTag, methods: personalMethods }
    if (!(await revokeSession(deps, tx, own))) throw new Failure('E-NOTFOUND')
    await audit(deps, tx, { event: 'session.revoked', actorTag: caller.idTag, ip, details: { sid } })
  })
}

/** Ends the session of the presented token. An API key and a bare proxy token have none that could be ended. */
export async function logout(deps: Deps, { tenant, caller, ip }: Input & { ip: string }): Promise<void> {
  const { sessionId: sid, tokenUse } = caller
  if (sid === undefined || tokenUse === 'apikey') throw new Failure('E-AUTH-FORBIDDEN')
  await deps.db.transact(tenant.tenantId, async (tx) => {
    await revokeSession(deps, tx, { sid })
    await audit(deps, tx, { event: 'session.ended', actorTag: caller.idTag, ip, details: { sid } })
  })
}

function toView(session: Session, currentSid: string | undefined): SessionView {
  return {
    sid: session.sid,
    current: session.sid === currentSid,
    method: session.method,
    createdAt: toIso(session.createdAt),
    lastUsedAt: toIso(session.lastUsedAt),
    expiresAt: toIso(session.expiresAt ?? session.createdAt),
    ipAddress: session.ip,
    userAgent: session.userAgent ?? null,
  }
}
