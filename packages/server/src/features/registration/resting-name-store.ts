import { deletionOf, type Reader, serverTenant, type Writer } from '#infra/db/index.ts'

interface RestingTables {
  resting_names: { tenant_id: number; name: string; until: number }
}

/** Keeps a name from whoever registers until then. */
export async function putRestingName(
  tx: Writer,
  { name, until }: { readonly name: string; readonly until: number },
): Promise<void> {
  await tx
    .as(serverTenant)
    .tables<RestingTables>()
    .insertInto('resting_names')
    .values({ tenant_id: serverTenant, name, until })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doUpdateSet({ until }))
    .execute()
}

export const deleteRestedNames = deletionOf({
  table: 'resting_names',
  key: ['tenant_id', 'name'],
  time: 'until',
})

export async function isResting(reader: Reader, name: string, now: number): Promise<boolean> {
  const row = await reader
    .tables<RestingTables>()
    .selectFrom('resting_names')
    .select('name')
    .where('tenant_id', '=', serverTenant)
    .where('name', '=', name)
    .where('until', '>', now)
    .executeTakeFirst()
  return row !== undefined
}
