import type { Reader, Writer } from '#infra/db/index.ts'
import type { QrSession } from './qr-session.ts'

interface QrTables {
  qr_sessions: {
    tenant_id: number
    session_id: string
    secret_hash: string
    answer: string | null
    delivered: number
    created_at: number
    expires_at: number
    ip: string
    network: string
    user_agent: string | null
    approved_in: string | null
  }
}

export async function findQrSession(reader: Reader, sessionId: string): Promise<QrSession | undefined> {
  const row = await reader
    .tables<QrTables>()
    .selectFrom('qr_sessions')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
  return (
    row && {
      sessionId: row.session_id,
      secretHash: row.secret_hash,
      isDelivered: row.delivered === 1,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      ip: row.ip,
      network: row.network,
      ...(row.answer === null ? {} : { answer: row.answer === 'approved' ? 'approved' : 'denied' }),
      ...(row.approved_in === null ? {} : { approvedIn: row.approved_in }),
      ...(row.user_agent === null ? {} : { userAgent: row.user_agent }),
    }
  )
}

export async function insertQrSession(tx: Writer, session: QrSession): Promise<void> {
  await tx
    .tables<QrTables>()
    .insertInto('qr_sessions')
    .values({
      tenant_id: tx.tenantId,
      session_id: session.sessionId,
      secret_hash: session.secretHash,
      answer: null,
      delivered: 0,
      created_at: session.createdAt,
      expires_at: session.expiresAt,
      ip: session.ip,
      network: session.network,
      user_agent: session.userAgent ?? null,
      approved_in: null,
    })
    .execute()
}

/** Sessions that have not ended, of the tenant and of one network there. */
export async function countOpen(
  reader: Reader,
  { network, now }: { network: string; now: number },
): Promise<{ ofTenant: number; ofNetwork: number }> {
  const open = reader
    .tables<QrTables>()
    .selectFrom('qr_sessions')
    .select((row) => row.fn.countAll<number>().as('total'))
    .where('tenant_id', '=', reader.tenantId)
    .where('expires_at', '>', now)
  const ofTenant = await open.executeTakeFirstOrThrow()
  const ofNetwork = await open.where('network', '=', network).executeTakeFirstOrThrow()
  return { ofTenant: Number(ofTenant.total), ofNetwork: Number(ofNetwork.total) }
}

/** Removes the oldest session of a network. */
export async function deleteOldestQrSession(tx: Writer, network: string): Promise<void> {
  await tx
    .tables<QrTables>()
    .deleteFrom('qr_sessions')
    .where('tenant_id', '=', tx.tenantId)
    .where('session_id', 'in', (eb) =>
      eb
        .selectFrom('qr_sessions as own')
        .select('own.session_id')
        .where('own.tenant_id', '=', tx.tenantId)
        .where('own.network', '=', network)
        .orderBy('own.created_at')
        .orderBy('own.session_id')
        .limit(1),
    )
    .execute()
}

/** False when it was answered before, or has ended. */
export async function putAnswer(
  tx: Writer,
  {
    sessionId,
    answer,
    inSession,
    now,
  }: { sessionId: string; answer: 'approved' | 'denied'; inSession: string | undefined; now: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .tables<QrTables>()
    .updateTable('qr_sessions')
    .set({ answer, approved_in: answer === 'approved' ? (inSession ?? null) : null })
    .where('tenant_id', '=', tx.tenantId)
    .where('session_id', '=', sessionId)
    .where('answer', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** True for exactly one caller, who may hand the login out. */
export async function markDelivered(tx: Writer, sessionId: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .tables<QrTables>()
    .updateTable('qr_sessions')
    .set({ delivered: 1 })
    .where('tenant_id', '=', tx.tenantId)
    .where('session_id', '=', sessionId)
    .where('answer', '=', 'approved')
    .where('delivered', '=', 0)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Revokes an approval whose login was not fetched yet. */
export async function denyApproved(tx: Writer, sessionId: string): Promise<void> {
  await tx
    .tables<QrTables>()
    .updateTable('qr_sessions')
    .set({ answer: 'denied', approved_in: null })
    .where('tenant_id', '=', tx.tenantId)
    .where('session_id', '=', sessionId)
    .where('delivered', '=', 0)
    .execute()
}

export async function deleteQrSessions(tx: Writer, endedBefore: number): Promise<void> {
  await tx
    .tables<QrTables>()
    .deleteFrom('qr_sessions')
    .where('tenant_id', '=', tx.tenantId)
    .where('expires_at', '<', endedBefore)
    .execute()
}
