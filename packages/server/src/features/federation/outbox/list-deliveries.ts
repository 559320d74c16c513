import { type ActionId, maxDeliveryOffset } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database, Reader } from '#infra/db/index.ts'
import type { JobRecord } from '#infra/jobs/index.ts'
import { isFanningOut } from './fan-out-store.ts'
import { deliverJob, deliverLocallyJob, findInboxJob } from './outbox-jobs.ts'

export interface ListDeliveriesDeps {
  readonly db: Database
  readonly listJobs: (
    reader: Reader,
    page: { kind: string; subject: string; offset: number; limit: number },
  ) => Promise<JobRecord[]>
  readonly countJobs: (
    reader: Reader,
    about: { kind: string; subject: string; atMost: number },
  ) => Promise<number>
  /** The id of the last token that was sent for an action: its own, or that of its deletion. Fails with
   * `E-ACTION-NOTFOUND` where the caller sees no such action, `E-AUTH-FORBIDDEN` where it is another's. */
  readonly getSentId: (question: DeliveriesQuestion) => Promise<ActionId>
}

interface DeliveriesQuestion {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly actionId: ActionId
  readonly limit: number
  readonly offset: number
}

interface DeliveriesPage {
  readonly jobs: readonly JobRecord[]
  /** This is the last page, and some recipients have no delivery yet. */
  readonly isUnfinished: boolean
  readonly total: number
}

const kinds = [deliverJob, deliverLocallyJob, findInboxJob]

/** The jobs that deliver an action or, once it is deleted, its deletion, finished ones included as long as they are
 * kept: one kind after the other, each in the order in which they were added. */
export async function listDeliveries(
  deps: ListDeliveriesDeps,
  question: DeliveriesQuestion,
): Promise<DeliveriesPage> {
  const actionId = await deps.getSentId(question)
  const reader = deps.db.reader(question.tenant.tenantId)
  const atMost = maxDeliveryOffset
  const jobs: JobRecord[] = []
  let { offset } = question
  let total = 0
  for (const { name: kind } of kinds) {
    const count = await deps.countJobs(reader, { kind, subject: actionId, atMost })
    const limit = question.limit - jobs.length
    if (limit > 0 && offset < count)
      jobs.push(...(await deps.listJobs(reader, { kind, subject: actionId, offset, limit })))
    offset = Math.max(0, offset - count)
    total += count
  }
  const isFanned = await isFanningOut(reader, actionId)
  const isEnd = jobs.length < question.limit && question.offset <= total
  return { jobs, isUnfinished: isFanned && isEnd, total: total + Number(isFanned) }
}
