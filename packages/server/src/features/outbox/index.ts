export {
  type DeliverDeps,
  deliverAction,
  deliverLocally,
  type FindToken,
  findInboxAndQueue,
} from './deliver-action.ts'
export { type ListDeliveriesDeps, listDeliveries } from './list-deliveries.ts'
export { outboxEndpoints } from './outbox-endpoints.ts'
export { deliverJob, deliverLocallyJob, findInboxJob } from './outbox-jobs.ts'
export { type Outgoing, type QueueDeps, queueDeliveries } from './queue-deliveries.ts'
