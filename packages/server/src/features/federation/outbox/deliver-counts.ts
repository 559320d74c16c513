import type { ActionId } from '@kith/protocol'
import type { Static } from 'typebox'
import type { Reader, TenantId } from '#infra/db/index.ts'
import type { JobContext } from '#infra/jobs/index.ts'
import { assertNotAllBlocked, assertNotSuspended, type DeliverDeps, tryToPost } from './deliver-action.ts'
import type { countLocallyJob, deliverCountsJob } from './outbox-jobs.ts'
import { withdrawn } from './post-token.ts'

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

async function getWord(deps: DeliverCountsDeps, tenantId: TenantId, countsOf: ActionId) {
  const word = await findWord(deps, tenantId, countsOf)
  if (!word) throw withdrawn()
  await assertNotSuspended(deps, tenantId)
  return word
}

function findWord(deps: DeliverCountsDeps, tenantId: TenantId, countsOf: ActionId) {
  return deps.findCountsToken(deps.db.reader(tenantId), countsOf)
}
