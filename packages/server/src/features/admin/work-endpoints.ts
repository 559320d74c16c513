import {
  discardJob as discardContract,
  getServerChecks,
  getStatistics as getStatisticsContract,
  getStorage as getStorageContract,
  listAdminJobs,
  retryJob as retryContract,
  toIso,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { type ChangeJobDeps, discardJob, retryJob } from './change-job.ts'
import { type ChecksDeps, getChecks } from './get-checks.ts'
import { getStorage, type StorageDeps } from './get-storage.ts'
import { listJobs } from './list-jobs.ts'
import type { CountDayDeps } from './statistics/count-day.ts'
import { getStatistics } from './statistics/server-statistics.ts'

export interface WorkEndpointDeps extends ChangeJobDeps, StorageDeps, ChecksDeps {
  readonly tenants: StorageDeps['tenants'] & CountDayDeps['tenants']
  readonly version: string
  /** Unix milliseconds. */
  readonly startedAtMs: number
}

export function workEndpoints(deps: WorkEndpointDeps): Endpoint[] {
  const { version, startedAtMs } = deps
  return [
    bind(listAdminJobs, ({ query }) => listJobs(deps, query)),
    bind(retryContract, ({ tenant, caller, params: { jobId }, ip }) =>
      retryJob(deps, { tenant, caller, jobId, ip }),
    ),
    bind(discardContract, ({ tenant, caller, params: { jobId }, ip }) =>
      discardJob(deps, { tenant, caller, jobId, ip }),
    ),
    bind(getStatisticsContract, async () => ({
      version,
      startedAt: toIso(startedAtMs / 1000),
      ...(await getStatistics(deps)),
    })),
    bind(getStorageContract, () => getStorage(deps)),
    bind(getServerChecks, ({ tenant }) => getChecks(deps, tenant)),
  ]
}
