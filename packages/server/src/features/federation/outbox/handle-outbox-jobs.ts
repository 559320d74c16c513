import type { JobQueue } from '#infra/jobs/index.ts'
import { confirmDelivery, deliverAction, deliverLocally, findInboxesAndQueue } from './deliver-action.ts'
import { countLocally, type DeliverCountsDeps, deliverCounts } from './deliver-counts.ts'
import { continueLane, type FanOutDeps } from './fan-out.ts'
import {
  confirmJob,
  countLocallyJob,
  deliverCountsJob,
  deliverJob,
  deliverLocallyJob,
  fanOutJob,
  findInboxJob,
} from './outbox-jobs.ts'

export type OutboxJobDeps = DeliverCountsDeps & FanOutDeps

/** Registers the handlers of the outbox's jobs. */
export function handleOutboxJobs(jobs: Pick<JobQueue, 'handle'>, deps: OutboxJobDeps): void {
  jobs.handle(deliverJob, (payload, context) => deliverAction(deps, payload, context))
  jobs.handle(confirmJob, (payload, context) => confirmDelivery(deps, payload, context))
  jobs.handle(findInboxJob, (payload, context) => findInboxesAndQueue(deps, payload, context))
  jobs.handle(fanOutJob, (payload, context) => continueLane(deps, payload, context))
  jobs.handle(deliverCountsJob, (payload, context) => deliverCounts(deps, payload, context))
  jobs.handle(countLocallyJob, (payload, context) => countLocally(deps, payload, context))
  jobs.handle(deliverLocallyJob, (payload, context) => deliverLocally(deps, payload, context))
}
