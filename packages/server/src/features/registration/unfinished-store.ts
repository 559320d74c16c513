import { type Reader, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'

interface UnfinishedTables {
  unfinished_registrations: { tenant_id: number; person_id: TenantId; expires_at: number }
}

// The rows are the server's own: what a tenant has goes first when it is removed, and this says that it is to go.

/** Notes until when a registration may stay unfinished. */
export async function putUnfinished(
  tx: Writer,
  { personId, expiresAt }: { readonly personId: TenantId; readonly expiresAt: number },
): Promise<void> {
  await tx
    .as(serverTenant)
    .tables<UnfinishedTables>()
    .insertInto('unfinished_registrations')
    .values({ tenant_id: serverTenant, person_id: personId, expires_at: expiresAt })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'person_id']).doUpdateSet({ expires_at: expiresAt }),
    )
    .execute()
}

/** Those whose time is over, oldest first. */
export async function listExpired(reader: Reader, now: number, limit: number): Promise<TenantId[]> {
  const rows = await reader
    .tables<UnfinishedTables>()
    .selectFrom('unfinished_registrations')
    .select('person_id')
    .where('tenant_id', '=', serverTenant)
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .orderBy('person_id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.person_id)
}

export async function deleteUnfinished(tx: Writer, personId: TenantId): Promise<void> {
  await tx
    .as(serverTenant)
    .tables<UnfinishedTables>()
    .deleteFrom('unfinished_registrations')
    .where('tenant_id', '=', serverTenant)
    .where('person_id', '=', personId)
    .execute()
}
