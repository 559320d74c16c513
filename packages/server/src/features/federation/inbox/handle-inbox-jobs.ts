import type { JobQueue } from '#infra/jobs/index.ts'
import { fetchHistory, type HistoryDeps } from './fetch-history.ts'
import { deliverHeldToken } from './hold-token.ts'
import { fetchHistoryJob, holdJob, storeLaterJob, verifyLaterJob, verifyMovedJob } from './inbox-jobs.ts'
import { storeAtTenants } from './store-token.ts'
import { verifyWaitingToken } from './verify-later.ts'
import { type VerifyMovedDeps, verifyMoved } from './verify-moved.ts'

/** Registers the handlers of the inbox's jobs. */
export function handleInboxJobs(jobs: Pick<JobQueue, 'handle'>, deps: HistoryDeps & VerifyMovedDeps): void {
  jobs.handle(verifyLaterJob, (payload, context) => verifyWaitingToken(deps, payload, context))
  jobs.handle(storeLaterJob, (payload) => storeAtTenants(deps, payload))
  jobs.handle(verifyMovedJob, (payload, context) => verifyMoved(deps, payload, context))
  jobs.handle(holdJob, (payload, context) => deliverHeldToken(deps, payload, context))
  jobs.handle(fetchHistoryJob, (payload, context) => fetchHistory(deps, payload, context))
}
