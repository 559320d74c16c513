import { auditActor } from '#features/audit/index.ts'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import { type JobQueue, removeDead } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { ByAdmin } from './change-identity.ts'

export interface ChangeJobDeps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<JobQueue, 'retryDead'>
}

type JobChange = ByAdmin & { readonly jobId: number }

/** Tries a job again that was given up. `E-NOTFOUND` when there is no such job. */
export function retryJob(deps: ChangeJobDeps, request: JobChange): Promise<void> {
  return change(deps, request, 'job.retried', deps.jobs.retryDead.bind(deps.jobs))
}

/** Forgets a job that was given up. `E-NOTFOUND` when there is no such job. */
export function discardJob(deps: ChangeJobDeps, request: JobChange): Promise<void> {
  return change(deps, request, 'job.discarded', removeDead)
}

async function change(
  deps: ChangeJobDeps,
  request: JobChange,
  event: 'job.retried' | 'job.discarded',
  apply: (tx: Writer, jobId: number) => Promise<boolean>,
): Promise<void> {
  const { jobId, tenant } = request
  await deps.db.transact(serverTenant, async (tx) => {
    if (!(await apply(tx, jobId)))
      throw new Failure('E-NOTFOUND', { message: 'No job of this number was given up.' })
    await auditActor(deps, tx.as(tenant.tenantId), { actor: request, event, details: { jobId } })
  })
}
