import { findRelation, removeRelation } from '#features/relations/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Tenants } from './open-tenants.ts'
import type { HostedTenant } from './tenant.ts'
import { clearOwner, deleteAppointment, deleteTenant, findBaseTenant } from './tenant-store.ts'

/** Takes a tenant out of the list, as the last step of its removal: its rows elsewhere are gone. The name may get
 * another owner, so its appointment as an administrator and its suspension are removed as well, though not a ban. `tx`
 * is the server's. */
export async function removeTenant(
  deps: { readonly tenants: Pick<Tenants, 'forget'> },
  tx: Writer,
  { tenantId, idTag }: HostedTenant,
): Promise<void> {
  const base = await findBaseTenant(tx)
  await clearOwner(tx, idTag)
  if (base) await deleteAppointment(tx.as(base.tenantId), idTag)
  const { standing } = (await findRelation(tx, idTag)) ?? {}
  if (standing === undefined || standing === 'Suspended') await removeRelation(tx, idTag)
  await deleteTenant(tx.as(tenantId))
  tx.afterCommit(() => deps.tenants.forget())
}
