import { createHash } from 'node:crypto'
import type { ActionId, IdTag } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import {
  countLocallyJob,
  deliverCountsJob,
  deliverJob,
  deliverLocallyJob,
  findInboxJob,
} from './outbox-jobs.ts'

export interface QueueDeps {
  readonly jobs: Jobs
  /** Those of these identities that are tenants of this server; one query. */
  readonly findLocal: (tx: Writer, idTags: readonly IdTag[]) => Promise<ReadonlySet<IdTag>>
  /** The stored inboxes of these identities: those that are fresh, or with `ever` all of them; one query. */
  readonly findInboxes: (
    tx: Writer,
    idTags: readonly IdTag[],
    known: 'fresh' | 'ever',
  ) => Promise<ReadonlyMap<IdTag, string>>
}

interface Addressed {
  readonly actionId: ActionId
  readonly issuerTag: IdTag
  readonly recipients: readonly IdTag[]
  /** Unix seconds; at once when absent or past. */
  readonly notBefore?: number | undefined
  /** The inbox may have received the action before these recipients moved there. */
  readonly haveMoved?: boolean
  readonly countsOf?: ActionId | undefined
}

function timeOf({ notBefore }: Pick<Addressed, 'notBefore'>): { runAtMs?: number } {
  return notBefore === undefined ? {} : { runAtMs: notBefore * 1000 }
}

type Queued = Omit<Addressed, 'recipients' | 'countsOf'>

// Few recipients keep the transaction short that delivers the action to them.
const localRecipientsPerJob = 50
const recipientsPerSearch = 50
// The receiving server finds the recipients itself. The names are for display, and payloads are bounded.
const maxNamedRecipients = 1000

/** Writes the deliveries of an action to some of its recipients: one per inbox, however many recipients it has
 * there. */
export async function queueDeliveries(deps: QueueDeps, tx: Writer, outgoing: Addressed): Promise<void> {
  const { recipients, countsOf } = outgoing
  if (recipients.length === 0) return
  const local = await deps.findLocal(tx, recipients)
  const remote = recipients.filter((recipient) => !local.has(recipient))
  const known = countsOf === undefined ? 'fresh' : 'ever'
  const inboxes = remote.length > 0 ? await deps.findInboxes(tx, remote, known) : new Map<IdTag, string>()
  // Counts are only sent to inboxes that are known.
  if (countsOf !== undefined)
    return queueCounts(deps, tx, { countsOf, local: [...local], byInbox: groupByInbox(remote, inboxes) })
  await queueLocally(deps, tx, outgoing, [...local])
  await queueByInbox(deps, tx, outgoing, groupByInbox(remote, inboxes))
  const unresolved = remote.filter((recipient) => !inboxes.has(recipient))
  await queueSearches(deps, tx, outgoing, chunksOf(unresolved, recipientsPerSearch))
}

/** Queues look-ups of recipients, together or each alone. Those for one issuer run in order. */
export async function queueSearches(
  deps: Pick<QueueDeps, 'jobs'>,
  tx: Writer,
  { actionId, issuerTag, ...times }: Queued,
  portions: readonly (readonly IdTag[])[],
): Promise<void> {
  const jobs = portions.map((recipients) => ({
    payload: { actionId, recipients: [...recipients] },
    options: {
      orderingKey: recipients.length === 1 ? `${issuerTag}|${recipients[0]}` : issuerTag,
      subject: actionId,
      ...timeOf(times),
    },
  }))
  await deps.jobs.enqueueAll(tx, findInboxJob, jobs)
}

/** Queues the counts of an action for tenants of this server and to inboxes. */
export async function queueCounts(
  { jobs }: Pick<QueueDeps, 'jobs'>,
  tx: Writer,
  told: {
    readonly countsOf: ActionId
    readonly local: readonly IdTag[]
    readonly byInbox: ReadonlyMap<string, readonly IdTag[]>
  },
): Promise<void> {
  const { countsOf, local, byInbox } = told
  await jobs.enqueueAll(
    tx,
    countLocallyJob,
    chunksOf(local, localRecipientsPerJob).map((recipients) => ({ payload: { countsOf, recipients } })),
  )
  await jobs.enqueueAll(
    tx,
    deliverCountsJob,
    [...byInbox].map(([inboxUrl, recipients]) => ({
      payload: { countsOf, inboxUrl, recipients: recipients.slice(0, maxNamedRecipients) },
      options: { groupKey: new URL(inboxUrl).host, dedupKey: deliveryKey(countsOf, inboxUrl) },
    })),
  )
}

/** The dedup key of an action and an inbox; short, since it is indexed. */
function deliveryKey(actionId: ActionId, inboxUrl: string, movedThere: readonly IdTag[] = []): string {
  const parts = [actionId, inboxUrl, ...movedThere].join(' ')
  return createHash('sha256').update(parts).digest('base64url').slice(0, 22)
}

/** Queues one delivery per inbox. One issuer's actions reach an inbox in order. */
export async function queueByInbox(
  deps: Pick<QueueDeps, 'jobs'>,
  tx: Writer,
  outgoing: Queued,
  byInbox: ReadonlyMap<string, readonly IdTag[]>,
): Promise<void> {
  const { actionId, issuerTag } = outgoing
  await deps.jobs.enqueueAll(
    tx,
    deliverJob,
    [...byInbox].map(([inboxUrl, recipients]) => ({
      payload: { actionId, inboxUrl, recipients: recipients.slice(0, maxNamedRecipients) },
      options: {
        orderingKey: `${issuerTag}|${inboxUrl}`,
        groupKey: new URL(inboxUrl).host,
        dedupKey: deliveryKey(actionId, inboxUrl, outgoing.haveMoved ? recipients : []),
        subject: actionId,
        ...timeOf(outgoing),
      },
    })),
  )
}

async function queueLocally(
  deps: QueueDeps,
  tx: Writer,
  outgoing: Addressed,
  local: readonly IdTag[],
): Promise<void> {
  await deps.jobs.enqueueAll(
    tx,
    deliverLocallyJob,
    chunksOf(local, localRecipientsPerJob).map((recipients, at) => ({
      payload: { actionId: outgoing.actionId, recipients },
      options: {
        orderingKey: `${outgoing.issuerTag}|${at}`,
        subject: outgoing.actionId,
        ...timeOf(outgoing),
      },
    })),
  )
}

function chunksOf(idTags: readonly IdTag[], size: number): IdTag[][] {
  return Array.from({ length: Math.ceil(idTags.length / size) }, (_, at) =>
    idTags.slice(at * size, (at + 1) * size),
  )
}

export function groupByInbox(
  recipients: readonly IdTag[],
  inboxes: ReadonlyMap<IdTag, string>,
): Map<string, IdTag[]> {
  const groups = new Map<string, IdTag[]>()
  for (const recipient of recipients) {
    const inboxUrl = inboxes.get(recipient)
    if (!inboxUrl) continue
    const group = groups.get(inboxUrl)
    if (group) group.push(recipient)
    else groups.set(inboxUrl, [recipient])
  }
  return groups
}
