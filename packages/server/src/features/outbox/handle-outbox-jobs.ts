import type { JobQueue } from '#infra/jobs/index.ts'
import {
  confirmDelivery,
  type DeliverDeps,
  deliverAction,
  deliverLocally,
  findInboxesAndQueue,
} from './deliver-action.ts'
import { confirmJob, deliverJob, deliverLocallyJob, findInboxJob } from './outbox-jobs.ts'

/** Registers how deliveries are made. */
export function handleOutboxJobs(jobs: Pick<JobQueue, 'handle'>, deps: DeliverDeps): void {
  jobs.handle(deliverJob, (payload, context) => deliverAction(deps, payload, context))
  jobs.handle(confirmJob, (payload, context) => confirmDelivery(deps, payload, context))
  jobs.handle(findInboxJob, (payload, context) => findInboxesAndQueue(deps, payload, context))
  jobs.handle(deliverLocallyJob, (payload, context) => deliverLocally(deps, payload, context))
}
