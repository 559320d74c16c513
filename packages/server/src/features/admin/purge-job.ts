import Type, { type Static } from 'typebox'
import {
  assertNotRemoved,
  beingRemoved,
  getTenant,
  type HostedTenant,
  type Tenants,
} from '#features/tenants/index.ts'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import { type Jobs, JobVerdict, jobKind, listJobs, removeJobsAbout } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'

// A process may learn of a suspension 5 s late, and serves the tenant until then.
const noticedMs = 6_000

/** Removes a tenant that was suspended at that time (Unix seconds) in order to be removed. Continues after an interruption.
 * A dead job is deleted at once: to try it again needs a new confirmation. */
const purgeTenantJob = jobKind({
  name: 'admin.purge-tenant',
  payload: Type.Object({
    tenantId: Type.Unsafe<TenantId>(Type.Integer()),
    suspendedAt: Type.Integer(),
    // It finishes what a command has begun.
    followsCommand: Type.Optional(Type.Boolean()),
  }),
  retry: { maxAttempts: 1000, firstDelayMs: 10_000, longestDelayMs: 600_000 },
  concurrency: 1,
  keepDeadMs: 0,
})

/** Removes once more what is of the number of a tenant that is gone: a request that was under way may have written after the
 * removal had passed. No other tenant gets the number. */
const lastSweepJob = jobKind({
  name: 'admin.sweep-purged',
  payload: Type.Object({ tenantId: Type.Unsafe<TenantId>(Type.Integer()) }),
  retry: { maxAttempts: 1000, firstDelayMs: 10_000, longestDelayMs: 600_000 },
  concurrency: 1,
})

// Requests are cut off seconds after a suspension; none goes on for so long without being looked at.
const lastSweepMs = 600_000

/** The handle is the server's. */
export async function queueLastSweep(
  { jobs, clock }: { readonly jobs: Pick<Jobs, 'enqueue'>; readonly clock: Clock },
  tx: Writer,
  { tenantId }: Pick<HostedTenant, 'tenantId'>,
): Promise<void> {
  await jobs.enqueue(tx, lastSweepJob, { tenantId }, { runAtMs: clock.now() + lastSweepMs })
}

/** A tenant that is to be removed. */
export type Suspended = HostedTenant & { readonly suspendedAt: number }

export async function queuePurge(
  jobs: Pick<Jobs, 'enqueue'>,
  tx: Writer,
  { tenantId, suspendedAt }: Suspended,
): Promise<void> {
  const subject = String(tenantId)
  const options = { subject, dedupKey: subject, runAtMs: suspendedAt * 1000 + noticedMs }
  await jobs.enqueue(tx, purgeTenantJob, { tenantId, suspendedAt }, options)
}

// Longer than a command takes to remove the largest tenant.
const commandMs = 3_600_000

/** Notes that a command has begun to remove a tenant, so that a half-removed tenant cannot be resumed. If the command is
 * interrupted it can be run again; the server continues after an hour. */
export async function noteCommandPurge(
  { jobs, clock }: { readonly jobs: Pick<Jobs, 'enqueue'>; readonly clock: Clock },
  tx: Writer,
  { tenantId, suspendedAt }: Suspended,
): Promise<void> {
  const subject = String(tenantId)
  const options = { subject, dedupKey: subject, runAtMs: clock.now() + commandMs }
  await jobs.enqueue(tx, purgeTenantJob, { tenantId, suspendedAt, followsCommand: true }, options)
}

/** Removes what `noteCommandPurge` has noted, once the command is done. */
export function endCommandPurge(tx: Writer, { tenantId }: Pick<HostedTenant, 'tenantId'>): Promise<void> {
  return removeJobsAbout(tx, purgeTenantJob, String(tenantId))
}

/** Which program is removing the tenant, if any. The handle is the server's. */
export async function findPurge(
  reader: Reader,
  { tenantId }: Pick<HostedTenant, 'tenantId'>,
): Promise<'server' | 'command line' | undefined> {
  const jobs = await listJobs(reader, { kind: purgeTenantJob.name, subject: String(tenantId) })
  const open = jobs.find(({ state }) => state !== 'done' && state !== 'dead')
  if (!open) return undefined
  const { followsCommand } = open.payload as Static<(typeof purgeTenantJob)['payload']>
  return followsCommand ? 'command line' : 'server'
}

/** Fails with `E-STATE` for a tenant that is being removed. The handle is the server's. */
export async function assertNotPurged(reader: Reader, tenant: HostedTenant): Promise<void> {
  assertNotRemoved(tenant)
  // One that was begun by a version that did not note it at the tenant.
  if (await findPurge(reader, tenant)) throw beingRemoved()
}

interface PurgeHandling {
  readonly tenants: Pick<Tenants, 'findById' | 'forget'>
  readonly purge: (tenant: Suspended, by: 'command line' | 'administrator') => Promise<unknown>
  readonly sweep: (tenant: Pick<HostedTenant, 'tenantId'>) => Promise<unknown>
}

/** Registers the handlers of the jobs; `purge` removes a suspended tenant, `sweep` the rows and blobs of one that is gone. */
export function handlePurges(jobs: Pick<Jobs, 'handle'>, { tenants, purge, sweep }: PurgeHandling): void {
  jobs.handle(lastSweepJob, async ({ tenantId }) => void (await sweep({ tenantId })))
  jobs.handle(purgeTenantJob, async ({ tenantId, suspendedAt, followsCommand }) => {
    tenants.forget()
    const tenant = await getTenant(tenants, tenantId).catch(() => undefined)
    if (!tenant) return
    if (tenant.suspendedAt !== suspendedAt) throw new JobVerdict('it was resumed meanwhile', { kind: 'dead' })
    await purge({ ...tenant, suspendedAt }, followsCommand ? 'command line' : 'administrator')
  })
}
