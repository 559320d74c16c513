import { unindexActions } from '#features/actions/index.ts'
import { queueLastSweep } from '#features/admin/index.ts'
import { audit } from '#features/audit/index.ts'
import { forgetNames } from '#features/certificates/index.ts'
import { quarantineNames } from '#features/registration/index.ts'
import {
  assertOthersLead,
  findBaseTenant,
  findTenantByIdTag,
  type HostedTenant,
  noteRemoval,
  removeTenant,
  type TenantEvent,
  type Tenants,
  withdrawAdmission,
} from '#features/tenants/index.ts'
import type { BlobStore } from '#infra/blobs/index.ts'
import {
  type Database,
  deleteTenantRows,
  listTenantTables,
  type Reader,
  serverTenant,
  type TableShape,
  type TenantId,
  type Writer,
} from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { type Jobs, removeJobs } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { forgetIdentity } from './forget-identity.ts'

export interface PurgeDeps {
  readonly db: Database
  readonly blobs: Pick<BlobStore, 'removeTenant'>
  readonly clock: Clock
  readonly tenants: Pick<Tenants, 'forget' | 'list'>
  readonly emit: Emit<TenantEvent>
}

/** Lets time pass by the clock of the server that may be running. */
type Pause = (ms: number) => Promise<unknown>

// One step holds up other writers for some milliseconds.
const rowsAtOnce = 500
// A running server may learn of a suspension 5 s late, and serves the tenant until then.
const noticedMs = 6_000
// `tenants` reserves the name and goes last; jobs are removed by the queue, which keeps their orders and groups right.
const notByRows = ['tenants', 'jobs']

/** Removes the rights that others gave to the name, then rows, blobs, and at last the tenant itself. Can be repeated after
 * any interruption. */
export async function purgeTenant(
  deps: PurgeDeps & {
    readonly jobs: Pick<Jobs, 'enqueue'>
    readonly pause: Pause
    readonly by: 'command line' | 'administrator'
    /** Runs in the first transaction: from then on something of the tenant is gone. */
    readonly noteBegun?: (tx: Writer) => Promise<void>
    /** Runs in the last transaction, with the server's handle. */
    readonly noteEnded?: (tx: Writer) => Promise<void>
  },
  tenant: HostedTenant & { readonly suspendedAt: number },
): Promise<{ rows: number; blobs: number }> {
  await untilNoticed(deps, tenant.suspendedAt)
  await deps.db.transact(serverTenant, async (tx) => {
    await assertStillSuspended(tx, tenant)
    await assertOthersLead(tx, tenant.idTag)
    await noteRemoval(deps, tx.as(tenant.tenantId))
    await deps.noteBegun?.(tx)
    await quarantineNames(deps, tx, tenant)
  })
  await forgetIdentity(deps, tenant.idTag)
  const removed = await removeTraces(deps, tenant)
  await deps.db.transact(serverTenant, async (tx) => {
    const base = await findBaseTenant(tx)
    const entry = { event: 'tenant.purged', details: { idTag: tenant.idTag, by: deps.by } } as const
    if (base) await audit(deps, tx.as(base.tenantId), entry)
    await queueLastSweep(deps, tx, tenant)
    await deps.noteEnded?.(tx)
  })
  return removed
}

async function assertStillSuspended(
  reader: Reader,
  { idTag, suspendedAt }: Pick<HostedTenant, 'idTag' | 'suspendedAt'>,
): Promise<void> {
  const found = await findTenantByIdTag(reader, idTag)
  if (found?.suspendedAt !== suspendedAt)
    throw new Failure('E-STATE', { message: 'The tenant was resumed meanwhile.' })
}

/** The same without the rights that others gave to the name: where `forgetIdentity` has run before. */
export async function removeTraces(
  deps: PurgeDeps,
  tenant: HostedTenant,
): Promise<{ rows: number; blobs: number }> {
  const { idTag, appDomain } = tenant
  const removed = await removeContents(deps, tenant)
  await deps.db.transact(serverTenant, async (tx) => {
    await forgetNames(tx, appDomain === undefined ? [idTag] : [idTag, appDomain])
    await removeTenant(deps, tx, tenant)
  })
  return removed
}

/** Removes everything that a tenant has, or that was written under its number after it was gone, but for the tenant
 * itself. */
export async function removeContents(
  deps: PurgeDeps,
  tenant: Pick<HostedTenant, 'tenantId'>,
): Promise<{ rows: number; blobs: number }> {
  await deps.db.transact(tenant.tenantId, (tx) => removeJobs(tx))
  await unindexActions(deps, tenant.tenantId)
  const rows = await removeRows(deps, tenant)
  // Jobs that were added by a job under way, such as a further portion of deliveries.
  await deps.db.transact(tenant.tenantId, (tx) => removeJobs(tx))
  return { rows, blobs: await deps.blobs.removeTenant(tenant.tenantId) }
}

/** Takes back a tenant of which an import has brought a part. It never took part, so what others gave to its name stays.
 * Can be repeated after any interruption. */
export async function withdrawImport(
  deps: PurgeDeps,
  tenant: Pick<HostedTenant, 'tenantId'>,
): Promise<{ rows: number; blobs: number }> {
  const removed = await removeContents(deps, tenant)
  await deps.db.transact(tenant.tenantId, (tx) => withdrawAdmission(deps, tx))
  return removed
}

async function untilNoticed(
  { clock, pause }: { readonly clock: Clock; readonly pause: Pause },
  suspendedAt: number,
): Promise<void> {
  const waitMs = suspendedAt * 1000 + noticedMs - clock.now()
  if (waitMs > 0) await pause(Math.min(waitMs, noticedMs))
}

async function removeRows({ db }: PurgeDeps, { tenantId }: Pick<HostedTenant, 'tenantId'>): Promise<number> {
  const tables = await listTenantTables(db.reader(tenantId))
  // Tables stand behind those that they refer to.
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
