import type { ActionId } from '@kith/protocol'
import type { Caller } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { JobRecord } from '#infra/jobs/index.ts'
import { deliverJob, deliverLocallyJob, findInboxJob } from './outbox-jobs.ts'

export interface ListDeliveriesDeps {
  readonly listJobs: (reader: Reader, about: { kind: string; subject: string }) => Promise<JobRecord[]>
  /** Fails with `E-ACTION-NOTFOUND` unless the caller is the action's issuer or may act for it. */
  readonly assertIssuer: (reader: Reader, caller: Caller, actionId: ActionId) => Promise<void>
}

/** The jobs that carry an action to its receivers, finished ones included as long as they are kept. */
export async function listDeliveries(
  deps: ListDeliveriesDeps,
  input: { readonly reader: Reader; readonly caller: Caller; readonly actionId: ActionId },
): Promise<JobRecord[]> {
  const { reader, caller, actionId } = input
  await deps.assertIssuer(reader, caller, actionId)
  const kinds = [deliverJob, deliverLocallyJob, findInboxJob]
  const lists = await Promise.all(
    kinds.map(({ name }) => deps.listJobs(reader, { kind: name, subject: actionId })),
  )
  return lists.flat()
}
