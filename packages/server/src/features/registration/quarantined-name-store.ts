import { deletionOf, type Reader, serverTenant, type Writer } from '#infra/db/index.ts'

interface QuarantineTables {
  quarantined_names: { tenant_id: number; name: string; until: number }
}

/** Keeps a name unavailable until then. */
export async function putQuarantinedName(
  tx: Writer,
  { name, until }: { readonly name: string; readonly until: number },
): Promise<void> {
  await tx
    .as(serverTenant)
    .tables<QuarantineTables>()
    .insertInto('quarantined_names')
    .values({ tenant_id: serverTenant, name, until })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doUpdateSet({ until }))
    .execute()
}

export const deleteRestedNames = deletionOf({
  table: 'quarantined_names',
  key: ['tenant_id', 'name'],
  time: 'until',
})

export async function isQuarantined(reader: Reader, name: string, now: number): Promise<boolean> {
  const row = await reader
    .tables<QuarantineTables>()
    .selectFrom('quarantined_names')
    .select('name')
    .where('tenant_id', '=', serverTenant)
    .where('name', '=', name)
    .where('until', '>', now)
    .executeTakeFirst()
  return row !== undefined
}
