import { type ActionId, parseActionId, serverActionTypes } from '@kith/protocol'
import type { Static } from 'typebox'
import type { StoredAction } from '#features/actions/index.ts'
import type { Reader, TenantId } from '#infra/db/index.ts'
import type { JobContext } from '#infra/jobs/index.ts'
import {
  assertNotAllBlocked,
  assertNotSuspended,
  type DeliverDeps,
  type Delivered,
  tryToPost,
} from './deliver-action.ts'
import type { countLocallyJob, deliverCountsJob } from './outbox-jobs.ts'
import { withdrawn } from './post-token.ts'
import { type QueueDeps, queueCounts } from './queue-deliveries.ts'

/** The newest counts token of an action, unless the action was deleted. */
export type FindCountsToken = (
  reader: Reader,
  countsOf: ActionId,
) => Promise<{ actionId: ActionId; token: string } | undefined>

export interface DeliverCountsDeps extends DeliverDeps {
  readonly findCountsToken: FindCountsToken
}

/** Posts the current counts of an action to an inbox. Whether the receiver could verify them does not matter, because
 * newer ones follow. */
export async function deliverCounts(
  deps: DeliverCountsDeps,
  { countsOf, inboxUrl, recipients }: Static<(typeof deliverCountsJob)['payload']>,
  { tenantId, signal }: Pick<JobContext, 'tenantId' | 'signal'>,
): Promise<void> {
  const word = await getWord(deps, tenantId, countsOf)
  await assertNotAllBlocked(deps, recipients)
  const isStillWanted = async () => (await findWord(deps, tenantId, countsOf)) !== undefined
  await tryToPost(deps, { ...word, inboxUrl, signal, isStillWanted }, deps.clock.now())
}

/** The same for tenants of this server. */
export async function countLocally(
  deps: DeliverCountsDeps,
  { countsOf, recipients }: Static<(typeof countLocallyJob)['payload']>,
  { tenantId }: Pick<JobContext, 'tenantId'>,
): Promise<void> {
  const { token } = await getWord(deps, tenantId, countsOf)
  await deps.receiveLocally({ token }, recipients, tenantId)
}

/** Queues the counts of an action to recipients that it has just reached. An inbox drops the counts of what it does not
 * hold, so those that were told while the action waited are lost. */
export async function queueDeliveredCounts(
  deps: WordDeps & Pick<QueueDeps, 'jobs'>,
  tenantId: TenantId,
  { action, inboxUrl, recipients }: Delivered & { readonly action: StoredAction },
): Promise<void> {
  const type: string = action.type
  const isAnnouncement = type === serverActionTypes.ANNC.type
  const countsOf = isAnnouncement ? parseActionId(action.subject ?? '') : action.actionId
  if (!countsOf || !(await findWord(deps, tenantId, countsOf))) return
  const reached =
    inboxUrl === undefined
      ? { local: recipients, byInbox: new Map() }
      : { local: [], byInbox: new Map([[inboxUrl, recipients]]) }
  await deps.db.transact(tenantId, (tx) => queueCounts(deps, tx, { countsOf, ...reached }))
}

async function getWord(deps: DeliverCountsDeps, tenantId: TenantId, countsOf: ActionId) {
  const word = await findWord(deps, tenantId, countsOf)
  if (!word) throw withdrawn()
  await assertNotSuspended(deps, tenantId)
  return word
}

type WordDeps = Pick<DeliverCountsDeps, 'db' | 'findCountsToken'>

function findWord(deps: WordDeps, tenantId: TenantId, countsOf: ActionId) {
  return deps.findCountsToken(deps.db.reader(tenantId), countsOf)
}
