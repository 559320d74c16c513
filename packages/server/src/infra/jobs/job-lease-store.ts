import { type Placeholder, statement, type Writer, type WriteTables } from '#infra/db/index.ts'
import type { JobTables } from './job-tables.ts'

type Tables = WriteTables<JobTables>

interface Extension {
  readonly leaseToken: string
  readonly untilMs: number
}

/** Adds the lease of a process. The node survives a restart of its process; the token does not. */
export async function addLease(
  tx: Writer,
  lease: { readonly leaseToken: string; readonly nodeId: string; readonly untilMs: number },
): Promise<void> {
  await tx
    .tables<JobTables>()
    .insertInto('job_leases')
    .values({ lease_token: lease.leaseToken, node_id: lease.nodeId, until_ms: lease.untilMs })
    .execute()
}

const extend = statement((tables: Tables, value: Placeholder<Extension>) =>
  tables
    .updateTable('job_leases')
    .set({ until_ms: value('untilMs') })
    .where('lease_token', '=', value('leaseToken')),
)

/** Prolongs a lease; false when another process has ended it, and takes its jobs. */
export async function extendLease(tx: Writer, extension: Extension): Promise<boolean> {
  return (await tx.change(extend, extension)) > 0
}

/** Ends the leases of former processes of a node, which the one that starts now replaces. */
export async function endLeasesOf(tx: Writer, nodeId: string): Promise<void> {
  await tx.tables<JobTables>().deleteFrom('job_leases').where('node_id', '=', nodeId).execute()
}

/** Ends leases of others that have run out: jobs without a lease are lost. A process that stood still for longer than its
 * own lease renews it unless another has ended it. */
export async function endOldLeases(
  tx: Writer,
  { nowMs, leaseToken }: { readonly nowMs: number; readonly leaseToken: string },
): Promise<void> {
  await tx
    .tables<JobTables>()
    .deleteFrom('job_leases')
    .where('until_ms', '<=', nowMs)
    .where('lease_token', '!=', leaseToken)
    .execute()
}
