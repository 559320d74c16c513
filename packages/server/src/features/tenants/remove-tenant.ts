import type { ProfileStatus } from '@kith/protocol'
import { findRelation, removeRelation, statusOf } from '#features/relations/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import type { TenantEvent } from './events.ts'
import type { Tenants } from './open-tenants.ts'
import type { HostedTenant } from './tenant.ts'
import { deleteTenant } from './tenant-store.ts'

// Decisions about whoever has the name; the others are about the tenant.
const lasting: ReadonlySet<ProfileStatus> = new Set(['Banned', 'Blocked'])

/** Takes a tenant out of the list, as the last step of its removal: its rows are gone, and what named it at others. The name
 * may get another owner, so its suspension is removed as well, though not a ban or a block. `tx` is the server's. */
export async function removeTenant(
  deps: { readonly tenants: Pick<Tenants, 'forget'>; readonly emit: Emit<TenantEvent> },
  tx: Writer,
  { tenantId, idTag }: HostedTenant,
): Promise<void> {
  const decided = await findRelation(tx, idTag)
  const isKept = decided && lasting.has(statusOf(decided))
  if (!isKept) await removeRelation(tx, idTag)
  await deleteTenant(tx.as(tenantId))
  await deps.emit(tx, { kind: 'hosted-name.changed', idTag })
  tx.afterCommit(() => deps.tenants.forget())
}
