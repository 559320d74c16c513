import type { ActionId } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database, Reader } from '#infra/db/index.ts'
import type { JobRecord } from '#infra/jobs/index.ts'
import { deliverJob, deliverLocallyJob, findInboxJob } from './outbox-jobs.ts'

export interface ListDeliveriesDeps {
  readonly db: Database
  readonly listJobs: (reader: Reader, about: { kind: string; subject: string }) => Promise<JobRecord[]>
  /** What was sent of an action last: itself, or the record of its deletion. Fails with `E-ACTION-NOTFOUND` where the caller
   * sees no such action, `E-AUTH-FORBIDDEN` where it is another's. */
  readonly getSentId: (question: DeliveriesQuestion) => Promise<ActionId>
}

export interface DeliveriesQuestion {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly actionId: ActionId
}

/** The jobs that carry an action, or once it is deleted the word of that, to its receivers, finished ones included as long as they are kept. */
export async function listDeliveries(
  deps: ListDeliveriesDeps,
  question: DeliveriesQuestion,
): Promise<JobRecord[]> {
  const subject = await deps.getSentId(question)
  const reader = deps.db.reader(question.tenant.tenantId)
  const kinds = [deliverJob, deliverLocallyJob, findInboxJob]
  const lists = await Promise.all(kinds.map(({ name }) => deps.listJobs(reader, { kind: name, subject })))
  return lists.flat()
}
