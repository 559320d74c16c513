import { deletionOf, type Reader, type Writer } from '#infra/db/index.ts'

// Word for word as in the indexes of `accounts-migrations.ts`.
export const hasEnd = "expires_at is not null and method <> 'apikey'"
export const isRevoked = 'revoked_at is not null'

const key = ['tenant_id', 'sid']

// NOTE: both over all tenants. An API key that has expired stays to be seen until its owner removes it.
export const deleteExpiredSessions = deletionOf({ table: 'sessions', key, time: 'expires_at', where: hasEnd })
export const deleteRevokedSessions = deletionOf({
  table: 'sessions',
  key,
  time: 'revoked_at',
  where: isRevoked,
})

interface SessionTables {
  sessions: { tenant_id: number; sid: string; last_used_at: number }
}

/** When the session was last used, Unix seconds; undefined where there is none. */
export async function findLastUse(reader: Reader, sid: string): Promise<number | undefined> {
  const row = await reader
    .tables<SessionTables>()
    .selectFrom('sessions')
    .select('last_used_at')
    .where('tenant_id', '=', reader.tenantId)
    .where('sid', '=', sid)
    .executeTakeFirst()
  return row?.last_used_at
}

/** For sessions of which no token lives any more. */
export async function deleteSession(tx: Writer, sid: string): Promise<void> {
  await tx
    .tables<SessionTables>()
    .deleteFrom('sessions')
    .where('tenant_id', '=', tx.tenantId)
    .where('sid', '=', sid)
    .execute()
}
