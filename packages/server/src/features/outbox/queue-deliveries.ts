import type { ActionId, IdTag } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { deliverJob, deliverLocallyJob, findInboxJob } from './outbox-jobs.ts'

export interface QueueDeps {
  readonly jobs: Jobs
  /** Which of these identities are tenants of this server; one query. */
  readonly findLocal: (tx: Writer, idTags: readonly IdTag[]) => Promise<ReadonlySet<IdTag>>
  /** The inboxes of those identities that are known here; one query. */
  readonly findInboxes: (tx: Writer, idTags: readonly IdTag[]) => Promise<ReadonlyMap<IdTag, string>>
}

export interface Outgoing {
  readonly actionId: ActionId
  readonly issuerTag: IdTag
  readonly recipients: readonly IdTag[]
  /** Unix seconds; at once when absent or past. */
  readonly notBefore?: number
}

function timeOf({ notBefore }: Pick<Outgoing, 'notBefore'>): { runAtMs?: number } {
  return notBefore === undefined ? {} : { runAtMs: notBefore * 1000 }
}

// A job of a few recipients keeps the transaction that hands them the action short.
const localRecipientsPerJob = 50
const recipientsPerSearch = 50
// Below the number of values that either database takes in one statement.
const tagsPerQuery = 1000
// A receiving server finds the receivers itself: the names are for people to read, and payloads are bounded.
const maxNamedRecipients = 1000

/** Writes the deliveries of an action beside it, in its transaction: one per inbox, whatever the number of recipients there. */
export async function queueDeliveries(deps: QueueDeps, tx: Writer, outgoing: Outgoing): Promise<void> {
  const recipients = [...new Set(outgoing.recipients)].filter((recipient) => recipient !== outgoing.issuerTag)
  if (recipients.length === 0) return
  const local = await findLocal(deps, tx, recipients)
  const remote = recipients.filter((recipient) => !local.has(recipient))
  const inboxes = remote.length > 0 ? await deps.findInboxes(tx, remote) : new Map<IdTag, string>()
  await queueLocally(deps, tx, outgoing, [...local])
  await queueByInbox(deps, tx, outgoing, groupByInbox(remote, inboxes))
  const unresolved = remote.filter((recipient) => !inboxes.has(recipient))
  await queueSearches(deps, tx, outgoing, chunksOf(unresolved, recipientsPerSearch))
}

/** Queues the search for recipients, together or each alone; what follows for one issuer follows in order. */
export async function queueSearches(
  deps: Pick<QueueDeps, 'jobs'>,
  tx: Writer,
  { actionId, issuerTag, ...times }: Omit<Outgoing, 'recipients'>,
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

async function findLocal(deps: QueueDeps, tx: Writer, recipients: readonly IdTag[]): Promise<Set<IdTag>> {
  const local = new Set<IdTag>()
  for (const some of chunksOf(recipients, tagsPerQuery))
    for (const idTag of await deps.findLocal(tx, some)) local.add(idTag)
  return local
}

/** Queues one delivery to an inbox; the order of one issuer's actions at one inbox is kept. */
export async function queueByInbox(
  deps: Pick<QueueDeps, 'jobs'>,
  tx: Writer,
  outgoing: Omit<Outgoing, 'recipients'>,
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
        subject: actionId,
        ...timeOf(outgoing),
      },
    })),
  )
}

async function queueLocally(
  deps: QueueDeps,
  tx: Writer,
  outgoing: Outgoing,
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
