import { type AdminJob, type CursorPage, type jobStates, toIso } from '@kith/protocol'
import type { HostedTenant, Tenants } from '#features/tenants/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { type JobRecord, pageDead, pageUnfinished } from '#infra/jobs/index.ts'

interface ListJobsDeps {
  readonly db: Database
  readonly tenants: Pick<Tenants, 'listNow'>
}

interface ListJobs {
  readonly state?: (typeof jobStates)[number] | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

const defaultLimit = 20

/** Jobs of all tenants that were given up, or that are not finished; the newest first. */
export async function listJobs(
  deps: ListJobsDeps,
  { state = 'failed', limit = defaultLimit, cursor }: ListJobs,
): Promise<CursorPage<AdminJob>> {
  const list = state === 'failed' ? pageDead : pageUnfinished
  const page = await list(deps.db.reader(serverTenant), { limit, cursor })
  return { ...page, items: await viewsOf(deps, page.items) }
}

async function viewsOf({ tenants }: ListJobsDeps, jobs: readonly JobRecord[]): Promise<AdminJob[]> {
  const tenantIds = [...new Set(jobs.map(({ tenantId }) => tenantId as HostedTenant['tenantId']))]
  const found = await tenants.listNow({ tenantIds, idTags: [] })
  const names = new Map<number, string>(found.map(({ tenantId, idTag }) => [tenantId, idTag]))
  return jobs.map((job) => {
    const { jobId, kind, state, attempts, lastError, createdAtMs, lastAttemptAtMs, runAtMs } = job
    const tenant = names.get(job.tenantId)
    return {
      jobId,
      kind,
      attempts,
      createdAt: toIso(createdAtMs / 1000),
      ...(tenant === undefined ? {} : { tenant }),
      ...(lastError === null ? {} : { lastError }),
      ...(lastAttemptAtMs === null ? {} : { lastAttemptAt: toIso(lastAttemptAtMs / 1000) }),
      ...(state === 'dead' || state === 'leased' ? {} : { nextAttemptAt: toIso(runAtMs / 1000) }),
    }
  })
}
