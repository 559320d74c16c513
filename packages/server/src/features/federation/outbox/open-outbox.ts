import {
  findSendable,
  findStoredAction,
  findToldCounts,
  getSentId,
  type ListHistoryDeps,
} from '#features/actions/index.ts'
import { listCircle } from '#features/relations/index.ts'
import { listHosted, type Tenants } from '#features/tenants/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import { countJobs, type JobQueue, type Jobs, listGroups, listJobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { findFreshInboxes } from '../identities/identities-store.ts'
import type { Identities } from '../identities/open-identities.ts'
import { queueDeliveredHistory } from '../inbox/opened-history.ts'
import { type LocalDeliveryDeps, receiveFromHere } from '../inbox/receive-from-here.ts'
import type { DeliverDeps } from './deliver-action.ts'
import { type FindCountsToken, queueDeliveredCounts } from './deliver-counts.ts'
import { queueForSending, type SendDeps } from './fan-out.ts'
import { inboxFinders } from './find-inbox.ts'
import { handleOutboxJobs, type OutboxJobDeps } from './handle-outbox-jobs.ts'
import { outboxEndpoints } from './outbox-endpoints.ts'
import type { Outgoing } from './outgoing.ts'

interface QueueParts {
  readonly jobs: Jobs
  readonly clock: Clock
}

/** Queues deliveries, in the transaction that stores what is delivered. */
export function openDelivery(parts: QueueParts) {
  const deps = sendDeps(parts)
  return (
    tx: Writer,
    {
      audience,
      ...outgoing
    }: Omit<Outgoing, 'named' | 'circle'> & { readonly audience: Pick<Outgoing, 'named' | 'circle'> },
  ): Promise<void> => queueForSending(deps, tx, { ...outgoing, ...audience })
}

function sendDeps({ jobs, clock }: QueueParts): SendDeps {
  return {
    jobs,
    listCircle,
    findLocal: listHosted,
    findInboxes: (tx, idTags, known) =>
      findFreshInboxes(tx.as(serverTenant), idTags, known === 'fresh' ? nowSecs(clock) : 0),
  }
}

interface OutboxParts extends Pick<DeliverDeps, 'db' | 'clock' | 'egress' | 'metrics'> {
  readonly jobs: JobQueue
  readonly tenants: Pick<Tenants, 'find' | 'findById'>
  readonly identities: Identities
  readonly isBlockedHere: DeliverDeps['isBlockedHere']
  readonly listCountTokens: ListHistoryDeps['listCountTokens']
  /** The host of this server's inbox. */
  readonly ownServer: () => string
  /** Receives tokens for tenants of this server. */
  readonly inbox: LocalDeliveryDeps
}

/** Registers the handlers of deliveries, and gives the endpoints about them. */
export function openOutbox(parts: OutboxParts): Endpoint[] {
  handleOutboxJobs(parts.jobs, jobDeps(parts))
  const { db, clock } = parts
  return outboxEndpoints({
    ...parts,
    listGroups,
    listJobs,
    countJobs,
    getSentId: (request) => getSentId({ db, clock }, request),
  })
}

function jobDeps(parts: OutboxParts): OutboxJobDeps {
  const { db, clock, jobs, tenants, identities, inbox } = parts
  const findCountsToken: FindCountsToken = async (reader, countsOf) => {
    const action = await findStoredAction(reader, countsOf)
    return action?.status === 'A' ? await findToldCounts(reader, countsOf) : undefined
  }
  return {
    ...sendDeps(parts),
    ...inboxFinders(identities),
    db,
    clock,
    egress: parts.egress,
    metrics: parts.metrics,
    isBlockedHere: parts.isBlockedHere,
    findToken: (reader, actionId) => findSendable(reader, actionId, nowSecs(clock)),
    isSuspended: async (tenantId) => (await tenants.findById(tenantId))?.suspendedAt !== undefined,
    findCountsToken,
    receiveLocally: (delivery, recipients, tenantId) =>
      receiveFromHere(inbox, delivery, recipients, tenantId),
    async onDelivered(tenantId, delivered) {
      const action = await findStoredAction(db.reader(tenantId), delivered.actionId)
      if (!action) return
      await queueDeliveredHistory({ db, jobs }, tenantId, action)
      await queueDeliveredCounts({ db, jobs, findCountsToken }, tenantId, { action, ...delivered })
    },
  }
}
