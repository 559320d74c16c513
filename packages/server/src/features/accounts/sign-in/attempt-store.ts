import { hash } from 'node:crypto'
import type { Reader, Writer } from '#infra/db/index.ts'

interface AttemptTables {
  attempt_buckets: { tenant_id: number; key_hash: string; full_until_ms: number }
}

function hashOf(key: string): string {
  return hash('sha256', key, 'base64url')
}

export async function findFullUntil(reader: Reader, key: string): Promise<number | undefined> {
  const row = await reader
    .tables<AttemptTables>()
    .selectFrom('attempt_buckets')
    .select('full_until_ms')
    .where('tenant_id', '=', reader.tenantId)
    .where('key_hash', '=', hashOf(key))
    .executeTakeFirst()
  return row?.full_until_ms
}

export async function putFullUntil(tx: Writer, key: string, fullUntilMs: number): Promise<void> {
  await tx
    .tables<AttemptTables>()
    .insertInto('attempt_buckets')
    .values({ tenant_id: tx.tenantId, key_hash: hashOf(key), full_until_ms: fullUntilMs })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'key_hash']).doUpdateSet({ full_until_ms: fullUntilMs }),
    )
    .execute()
}

/** An empty bucket is the same as none. */
export async function deleteIdleBuckets(tx: Writer, nowMs: number): Promise<void> {
  await tx
    .tables<AttemptTables>()
    .deleteFrom('attempt_buckets')
    .where('tenant_id', '=', tx.tenantId)
    .where('full_until_ms', '<', nowMs)
    .execute()
}
