import { unindexActions } from '#features/actions/index.ts'
import { audit } from '#features/audit/index.ts'
import { quarantineNames } from '#features/registration/index.ts'
import {
  assertOthersLead,
  findBaseTenant,
  type HostedTenant,
  removeTenant,
  type Tenants,
} from '#features/tenants/index.ts'
import type { BlobStore } from '#infra/blobs/index.ts'
import {
  type Database,
  deleteTenantRows,
  listTenantTables,
  serverTenant,
  type TableShape,
  type TenantId,
} from '#infra/db/index.ts'
import { removeJobs } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'
import { forgetIdentity } from './forget-identity.ts'

export interface PurgeDeps {
  readonly db: Database
  readonly blobs: Pick<BlobStore, 'removeTenant'>
  readonly clock: Clock
  readonly tenants: Pick<Tenants, 'forget' | 'list'>
}

/** Lets time pass by the clock of the server that may be running. */
type Pause = (ms: number) => Promise<unknown>

// One step holds up other writers for some milliseconds.
const rowsAtOnce = 500
// Until then a running server may not know of the suspension, and answers for the tenant.
const noticedMs = 6_000
// The row that keeps the name goes last; jobs are taken out of their orders and groups by the queue itself.
const notByRows = ['tenants', 'jobs']

/** Removes what others gave to the name, then rows, then bytes, then the tenant itself. Whatever interrupts it, it can be
 * done again. */
export async function purgeTenant(
  deps: PurgeDeps & { readonly pause: Pause },
  tenant: HostedTenant & { readonly suspendedAt: number },
): Promise<{ rows: number; blobs: number }> {
  await untilNoticed(deps, tenant.suspendedAt)
  await deps.db.transact(serverTenant, async (tx) => {
    await assertOthersLead(tx, tenant.idTag)
    await quarantineNames(deps, tx, tenant)
  })
  await forgetIdentity(deps, tenant.idTag)
  const removed = await removeTraces(deps, tenant)
  await deps.db.transact(serverTenant, async (tx) => {
    const base = await findBaseTenant(tx)
    const entry = { event: 'tenant.purged', details: { idTag: tenant.idTag, by: 'command line' } } as const
    if (base) await audit(deps, tx.as(base.tenantId), entry)
  })
  return removed
}

/** The same for a tenant whose name lives on elsewhere, or that nobody has met. */
export async function removeTraces(
  deps: PurgeDeps,
  tenant: HostedTenant,
): Promise<{ rows: number; blobs: number }> {
  await deps.db.transact(tenant.tenantId, (tx) => removeJobs(tx))
  await unindexActions(deps, tenant.tenantId)
  const rows = await removeRows(deps, tenant)
  // Those that a job under way has added, such as a portion of deliveries.
  await deps.db.transact(tenant.tenantId, (tx) => removeJobs(tx))
  const blobs = await deps.blobs.removeTenant(tenant.tenantId)
  await deps.db.transact(serverTenant, (tx) => removeTenant(deps, tx, tenant))
  return { rows, blobs }
}

async function untilNoticed(
  { clock, pause }: { readonly clock: Clock; readonly pause: Pause },
  suspendedAt: number,
): Promise<void> {
  const waitMs = suspendedAt * 1000 + noticedMs - clock.now()
  if (waitMs > 0) await pause(Math.min(waitMs, noticedMs))
}

async function removeRows({ db }: PurgeDeps, { tenantId }: HostedTenant): Promise<number> {
  const tables = await listTenantTables(db.reader(tenantId))
  // What refers to others stands behind them in the list.
  const ordered = tables.filter(({ name }) => !notByRows.includes(name)).reverse()
  let removed = 0
  // Once more after a pass that found something: a job under way may have added rows behind it.
  for (let removedBefore = -1; removed !== removedBefore; ) {
    removedBefore = removed
    for (const table of ordered) removed += await emptyTable(db, tenantId, table)
  }
  return removed
}

async function emptyTable(db: Database, tenantId: TenantId, table: TableShape): Promise<number> {
  let removed = 0
  while (true) {
    const step = await db.transact(tenantId, (tx) => deleteTenantRows(tx, table, rowsAtOnce))
    removed += step
    if (step < rowsAtOnce) return removed
  }
}
