import { sql } from 'kysely'
import { deletionOf, type Reader, type Writer } from '#infra/db/index.ts'
import type { BrowserSession } from './browser-session.ts'

interface BrowserSessionTables {
  browser_sessions: {
    tenant_id: number
    cookie_id: string
    sid: string
    secret_hash: string
    former: string
    used_at: number
    expires_at: number
  }
}

export function findBrowserSession(reader: Reader, cookieId: string): Promise<BrowserSession | undefined> {
  return findBy(reader, 'cookie_id', cookieId)
}

/** That of a session, which has one at most. */
export function findBrowserSessionOf(reader: Reader, sid: string): Promise<BrowserSession | undefined> {
  return findBy(reader, 'sid', sid)
}

async function findBy(
  reader: Reader,
  column: 'cookie_id' | 'sid',
  value: string,
): Promise<BrowserSession | undefined> {
  const row = await reader
    .tables<BrowserSessionTables>()
    .selectFrom('browser_sessions')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where(column, '=', value)
    .executeTakeFirst()
  return (
    row && {
      cookieId: row.cookie_id,
      sid: row.sid,
      secretHash: row.secret_hash,
      former: JSON.parse(row.former) as BrowserSession['former'],
      expiresAt: row.expires_at,
    }
  )
}

/** Makes that of a session, or replaces its secrets, its session and its end. The cookie stays known for as long as the session lives:
 * a use of a former secret must be told from one of a cookie that was made up. */
export async function putBrowserSession(tx: Writer, put: BrowserSession, now: number): Promise<void> {
  const changed = {
    sid: put.sid,
    secret_hash: put.secretHash,
    former: JSON.stringify(put.former),
    used_at: now,
    expires_at: put.expiresAt,
  }
  await tx
    .tables<BrowserSessionTables>()
    .insertInto('browser_sessions')
    .values({ tenant_id: tx.tenantId, cookie_id: put.cookieId, ...changed })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'cookie_id']).doUpdateSet(changed))
    .execute()
}

/** Removes those of the tenant that were used least recently, beyond so many; never the one that was put now, which others
 * of the same second do not make older. */
export async function deleteOldestBrowserSessions(
  tx: Writer,
  { maxKept, putNow }: { readonly maxKept: number; readonly putNow: string },
): Promise<void> {
  await tx
    .tables<BrowserSessionTables>()
    .deleteFrom('browser_sessions')
    .where('tenant_id', '=', tx.tenantId)
    .where('cookie_id', 'not in', (eb) =>
      eb
        .selectFrom('browser_sessions as kept')
        .select('kept.cookie_id')
        .where('kept.tenant_id', '=', tx.tenantId)
        .orderBy(sql`case kept.cookie_id when ${putNow} then 0 else 1 end`)
        .orderBy('kept.used_at', 'desc')
        .orderBy('kept.cookie_id')
        .limit(maxKept),
    )
    .execute()
}

/** Removes those whose session was revoked. */
export async function deleteRevokedBrowserSessions(tx: Writer): Promise<void> {
  await tx
    .tables<BrowserSessionTables>()
    .deleteFrom('browser_sessions')
    .where('tenant_id', '=', tx.tenantId)
    .where(
      sql<boolean>`exists (select 1 from sessions as s where s.tenant_id = browser_sessions.tenant_id
        and s.sid = browser_sessions.sid and s.revoked_at is not null)`,
    )
    .execute()
}

// NOTE: over all tenants.
export const deleteExpiredBrowserSessions = deletionOf({
  table: 'browser_sessions',
  key: ['tenant_id', 'cookie_id'],
  time: 'expires_at',
})
