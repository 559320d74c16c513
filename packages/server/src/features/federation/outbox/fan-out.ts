import type { IdTag } from '@kith/protocol'
import type { Database, Reader, TenantId, Writer } from '#infra/db/index.ts'
import { type JobContext, type Jobs, JobVerdict } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { FindToken } from './deliver-action.ts'
import type { FindCountsToken } from './deliver-counts.ts'
import { deleteFanOut, insertFanOut, isLaneBusy, lockFirst, setAfterTag } from './fan-out-store.ts'
import { fanOutJob } from './outbox-jobs.ts'
import { type Circle, laneOf, type Outgoing } from './outgoing.ts'
import { type QueueDeps, queueDeliveries } from './queue-deliveries.ts'

export interface SendDeps extends QueueDeps {
  readonly jobs: Jobs
  /** Members of a circle in the order of their names. `next`: where the next page begins; undefined after the last
   * one. */
  readonly listCircle: (
    reader: Reader,
    circle: Circle,
    page: { readonly after: string; readonly limit: number },
  ) => Promise<{ readonly idTags: readonly IdTag[]; readonly next?: IdTag }>
}

export interface FanOutDeps extends SendDeps {
  readonly db: Database
  readonly clock: Clock
  readonly findToken: FindToken
  readonly findCountsToken: FindCountsToken
  readonly isSuspended: (tenantId: TenantId) => Promise<boolean>
}

// A hundred deliveries take three to seven milliseconds of a transaction, for which all other writes wait.
const recipientsPerPortion = 100
/** After this many portions another lane has its turn. */
const portionsPerTurn = 16
const suspendedPauseMs = 600_000

/** Queues the deliveries of an action in its transaction. With many recipients these are the first portion; a job
 * continues with the others, writing each portion and its cursor in one transaction. */
export async function queueForSending(deps: SendDeps, tx: Writer, outgoing: Outgoing): Promise<void> {
  if (outgoing.named.length === 0 && outgoing.circle === undefined) return
  // Earlier actions of the issuer come first.
  const next = (await isLaneBusy(tx, laneOf(outgoing)))
    ? ''
    : await writePortion(deps, tx, { outgoing, after: '', limit: recipientsPerPortion })
  if (next === undefined) return
  await insertFanOut(tx, outgoing, next)
  await queueTurn(deps, tx, laneOf(outgoing))
}

/** Does the work of `fanOutJob`: writes some portions of a lane. */
export async function continueLane(
  deps: FanOutDeps,
  { lane }: { readonly lane: string },
  { tenantId, signal }: Pick<JobContext, 'tenantId' | 'signal'>,
): Promise<void> {
  const isSuspended = await deps.isSuspended(tenantId)
  const turn = { lane, isEnding: isSuspended }
  for (let portion = 0; portion < portionsPerTurn && !signal.aborted; portion += 1)
    // Only the row of the fan-out is read and written here, and it is locked.
    if (!(await deps.db.transact(tenantId, (tx) => continueFirst(deps, tx, turn), inBackground))) {
      if (isSuspended) await postpone(deps, tenantId, lane)
      return
    }
  await deps.db.transact(tenantId, (tx) => queueTurn(deps, tx, lane))
}

/** The rest of the lane waits until the suspension has ended. */
async function postpone({ db, clock }: FanOutDeps, tenantId: TenantId, lane: string): Promise<void> {
  if (!(await isLaneBusy(db.reader(tenantId), lane))) return
  const atMs = clock.now() + suspendedPauseMs
  throw new JobVerdict('the tenant is suspended', { kind: 'retry', atMs })
}

const inBackground = { isolation: 'read-committed', isBackground: true } as const

interface LaneTurn {
  readonly lane: string
  /** Only fan-outs of endings. */
  readonly isEnding: boolean
}

/** Writes one portion of the oldest fan-out of a lane. False when the lane has none left. */
async function continueFirst(deps: FanOutDeps, tx: Writer, turn: LaneTurn): Promise<boolean> {
  const fanOut = await lockFirst(tx, turn)
  if (!fanOut) return false
  const { fanOutId, outgoing, afterTag } = fanOut
  const next = (await isToBeSent(deps, tx, outgoing))
    ? await writePortion(deps, tx, { outgoing, after: afterTag, limit: recipientsPerPortion })
    : undefined
  if (next === undefined) await deleteFanOut(tx, fanOutId)
  else await setAfterTag(tx, fanOutId, next)
  return true
}

/** False when the action was deleted or has expired. The fan-out of counts continues when newer ones replace them,
 * because each delivery sends the newest. */
async function isToBeSent(
  deps: FanOutDeps,
  reader: Reader,
  { actionId, countsOf }: Outgoing,
): Promise<boolean> {
  const found =
    countsOf === undefined ? deps.findToken(reader, actionId) : deps.findCountsToken(reader, countsOf)
  return (await found) !== undefined
}

interface Portion {
  readonly outgoing: Outgoing
  readonly after: string
  readonly limit: number
}

/** Answers where the next portion begins, if there is one. */
async function writePortion(
  deps: SendDeps,
  tx: Writer,
  { outgoing, after, limit }: Portion,
): Promise<IdTag | undefined> {
  const { named, circle, leftOut = [], issuerTag } = outgoing
  const page = circle ? await deps.listCircle(tx, circle, { after, limit }) : { idTags: [] }
  const recipients = new Set(after === '' ? [...named, ...page.idTags] : page.idTags)
  for (const idTag of [issuerTag, ...leftOut]) recipients.delete(idTag)
  await queueDeliveries(deps, tx, { ...outgoing, recipients: [...recipients] })
  return page.next
}

/** A job that is running may have read the lane before this change; another one reads it again. */
async function queueTurn({ jobs }: Pick<SendDeps, 'jobs'>, tx: Writer, lane: string): Promise<void> {
  await jobs.enqueue(tx, fanOutJob, { lane }, { dedupKey: lane })
}
