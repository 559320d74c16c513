import type { JobQueue } from '#infra/jobs/index.ts'
import { fetchHistory, type HistoryDeps } from './fetch-history.ts'
import { fetchHistoryJob, storeLaterJob, verifyLaterJob } from './inbox-jobs.ts'
import { storeAtTenants } from './store-token.ts'
import { verifyWaitingToken } from './verify-later.ts'

/** Registers what the inbox does later. */
export function handleInboxJobs(jobs: Pick<JobQueue, 'handle'>, deps: HistoryDeps): void {
  jobs.handle(verifyLaterJob, (payload, context) => verifyWaitingToken(deps, payload, context))
  jobs.handle(storeLaterJob, (payload) => storeAtTenants(deps, payload))
  jobs.handle(fetchHistoryJob, (payload, context) => fetchHistory(deps, payload, context))
}
