import type { Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { assertOthersLead } from './assert-others-lead.ts'
import type { Tenants } from './open-tenants.ts'
import { type SuspendDeps, suspendTenant } from './suspend-tenant.ts'
import { findTenantById, updateUnderWay } from './tenant-store.ts'
import { assertNotImported } from './under-way.ts'

/** Decides that the tenant of `tx` is removed: it is suspended, if it was not, and nothing resumes it from then on.
 * Answers since when it is suspended. `E-STATE` when it is the only leader of a community, or is being
 * imported: what has come of it is taken back, and nobody forgets its name (`withdrawAdmission`). */
export async function beginRemoval(deps: SuspendDeps, tx: Writer): Promise<number> {
  const before = await findTenantById(tx, tx.tenantId)
  if (!before) throw new Failure('E-PROFILE-NOTFOUND')
  assertNotImported(before)
  await assertOthersLead(tx, before.idTag)
  if (before.suspendedAt === undefined) await suspendTenant(deps, tx)
  await noteRemoval(deps, tx)
  const { suspendedAt = 0 } = (await findTenantById(tx, tx.tenantId)) ?? before
  return suspendedAt
}

/** Notes that the suspended tenant of `tx` is being removed. `E-STATE` when it is not suspended. */
export async function noteRemoval(
  { tenants }: { readonly tenants: Pick<Tenants, 'forget'> },
  tx: Writer,
): Promise<void> {
  if (!(await updateUnderWay(tx, 'removal')))
    throw new Failure('E-STATE', { message: 'The tenant was resumed meanwhile.' })
  tx.afterCommit(() => tenants.forget())
}
