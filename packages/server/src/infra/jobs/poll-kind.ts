import type { Writer } from '#infra/db/index.ts'
import { type DueWork, findDueWork, nextAtMs } from './due-work-store.ts'
import {
  afterFailure,
  afterServing,
  afterSuccess,
  claimAtMs,
  type GroupState,
  isGrouped,
  policyOf,
} from './group-breaker.ts'
import { addGroups, leaseOneOfEachGroup, listDueGroups, loadGroups, saveGroups } from './job-group-store.ts'
import type { JobKind } from './job-kind.ts'
import { giveUpOverdue, lockKind, orderNewJobs, promoteBehind } from './job-order-store.ts'
import {
  type Ending,
  type LeasedJob,
  type LeaseTerms,
  leasePlainJobs,
  listLostJobs,
  markDead,
  markDone,
  renewLeases,
  requeueJob,
  takeBackKey,
} from './job-store.ts'
import { type Outcome, outcomeOfLostLease } from './retry.ts'

/** How long a dead job stays for an admin to see. */
export const keepDeadMs = 30 * 24 * 3600 * 1000
/** Rows that one poll takes from each of the longer lists; the rest waits for the next, and other writes come between. */
const maxRowsPerPoll = 100
/** Before another look at rows that another node holds. */
const lockedPauseMs = 20

/** A job that a runner has run. */
export interface FinishedJob {
  readonly job: LeasedJob
  readonly outcome: Outcome
}

/** What a runner wants of a kind in one poll. */
export interface PollRequest {
  readonly kind: JobKind
  /** Set for a recurring kind. */
  readonly periodMs: number | undefined
  readonly finished: readonly FinishedJob[]
  /** Whether to look for jobs at all, and how many may be leased. */
  readonly looks: boolean
  readonly free: number
  readonly renews: boolean
}

/** What all polls of a process have in common. */
export interface PollTerms {
  readonly nowMs: number
  readonly leaseNode: string
  readonly leaseToken: string
  readonly random: () => number
}

export interface PollResult {
  readonly leased: readonly LeasedJob[]
  /** The leases that this process still has, when they were renewed. */
  readonly held: ReadonlySet<number> | undefined
  /** When there is next something to do; undefined when the poll did not look. */
  readonly nextAtMs: number | undefined
}

type GroupEvent = 'success' | 'failure' | 'served'

/** The groups that a poll has touched, with what happened to each; at most a few per row of the poll. */
class TouchedGroups {
  readonly events = new Map<string, GroupEvent[]>()

  touch(groupKey: string | null, event?: GroupEvent): void {
    if (groupKey === null) return
    const events = this.events.get(groupKey) ?? []
    if (event) events.push(event)
    this.events.set(groupKey, events)
  }

  touchAll(groupKeys: Iterable<string>): void {
    for (const groupKey of groupKeys) this.touch(groupKey)
  }
}

/** One poll of a runner for one kind, in the caller's transaction: stores what became of the jobs it ran, puts lost,
 * overdue and new jobs in their places, and leases as many as it has room for. */
export async function pollKind(tx: Writer, request: PollRequest, terms: PollTerms): Promise<PollResult> {
  const { kind, finished } = request
  const own = { kind: kind.name, leaseToken: terms.leaseToken }
  const dueWork = request.looks ? await findDueWork(tx, own) : undefined
  const due = dueParts(dueWork, terms.nowMs)
  const isLocked =
    due.isArranging ||
    isGrouped(kind) ||
    finished.some(({ job }) => job.orderingKey !== null || job.groupKey !== null)
  if (isLocked) await lockKind(tx, kind.name)
  const held = request.renews
    ? await renewLeases(tx, { ...own, leaseUntilMs: terms.nowMs + kind.leaseMs })
    : undefined
  const groups = new TouchedGroups()
  await storeOutcomes(tx, request, terms.nowMs, groups)
  if (due.lost) await recoverLost(tx, request, terms, groups)
  if (due.overdue) await giveUp(tx, request, terms, groups)
  const hasUnordered = due.new && (await orderNew(tx, kind, groups)) === maxRowsPerPoll
  await updateGroups(tx, kind, groups, terms.nowMs)
  if (!request.looks) return { leased: [], held, nextAtMs: undefined }
  // Fairness between tenants needs to know of all jobs.
  if (hasUnordered && kind.isFairByTenant) return { leased: [], held, nextAtMs: terms.nowMs }
  const leased = await leasePlain(tx, request, terms)
  if (isLocked) leased.push(...(await leaseGrouped(tx, request, terms, request.free - leased.length)))
  // A full poll leaves the question to the next one.
  if (leased.length === request.free) return { leased, held, nextAtMs: terms.nowMs }
  const next = nextAtMs(await findDueWork(tx, own), terms.nowMs)
  // What is due and could not be had is locked by another node at this moment.
  const isTaken = leased.length === 0 && next <= terms.nowMs && !due.isArranging
  return { leased, held, nextAtMs: isTaken ? terms.nowMs + lockedPauseMs : next }
}

function dueParts(dueWork: DueWork | undefined, nowMs: number) {
  const isDue = (atMs: number | null | undefined) => typeof atMs === 'number' && atMs <= nowMs
  const due = {
    new: typeof dueWork?.newJobId === 'number',
    lost: isDue(dueWork?.lostAtMs),
    overdue: isDue(dueWork?.giveUpAtMs),
    groups: isDue(dueWork?.groupAtMs),
  }
  return { ...due, isArranging: due.new || due.lost || due.overdue || due.groups }
}

/** Stores what became of jobs that were leased with one token. */
async function storeOutcomes(
  tx: Writer,
  { kind, periodMs, finished }: Pick<PollRequest, 'kind' | 'periodMs' | 'finished'>,
  nowMs: number,
  groups: TouchedGroups,
): Promise<void> {
  const ended: FinishedJob[] = []
  for (const { job, outcome } of finished) {
    groups.touch(job.groupKey, eventOf(outcome))
    const again = againOf(job, outcome, { nowMs, periodMs })
    if (!again) ended.push({ job, outcome })
    // Another job has the key by now, and does the work of this one.
    else if (kind.freesDedupKey && !(await takeBackKey(tx, job)))
      ended.push({ job, outcome: { kind: 'done' } })
    else await requeueJob(tx, { ...job, ...again })
  }
  const [first] = ended
  if (first) await storeEnds(tx, kind, { ended, leaseToken: first.job.leaseToken, nowMs, groups })
}

/** How a job runs again, if it does. A recurring one never ends: after its last attempt it waits for its next time like
 * after a success. */
function againOf(
  job: LeasedJob,
  outcome: Outcome,
  { nowMs, periodMs }: { readonly nowMs: number; readonly periodMs: number | undefined },
) {
  if (outcome.kind === 'retry') return { atMs: outcome.atMs, attempts: job.attempts, error: outcome.error }
  if (outcome.kind === 'released')
    return { atMs: job.runAtMs, attempts: job.attempts - 1, error: job.lastError }
  if (periodMs === undefined) return undefined
  return { atMs: nowMs + periodMs, attempts: 0, error: outcome.kind === 'dead' ? outcome.error : null }
}

interface Ends {
  readonly ended: readonly FinishedJob[]
  readonly leaseToken: string
  readonly nowMs: number
  readonly groups: TouchedGroups
}

async function storeEnds(
  tx: Writer,
  kind: JobKind,
  { ended, leaseToken, nowMs, groups }: Ends,
): Promise<void> {
  const heads = idsOf(ended.filter(({ job }) => job.orderingKey !== null))
  if (heads.length > 0) groups.touchAll(await promoteBehind(tx, { jobIds: heads, leaseToken }))
  const done = idsOf(ended.filter(({ outcome }) => outcome.kind === 'done'))
  if (done.length > 0)
    await markDone(tx, { jobIds: done, leaseToken }, endingOf(kind, nowMs, kind.keepDoneMs))
  const deadEnding = endingOf(kind, nowMs, kind.keepDeadMs ?? keepDeadMs)
  for (const { job, outcome } of ended)
    if (outcome.kind === 'dead') await markDead(tx, { ...job, ...deadEnding, error: outcome.error })
}

function endingOf(kind: JobKind, nowMs: number, keepMs: number): Ending {
  return { nowMs, removeAtMs: nowMs + keepMs, keepsKey: Number(kind.keepsDedupKey ?? false) }
}

function idsOf(finished: readonly FinishedJob[]): number[] {
  return finished.map(({ job }) => job.jobId)
}

function eventOf(outcome: Outcome): GroupEvent | undefined {
  if (outcome.kind === 'done') return 'success'
  if (outcome.kind === 'released' || outcome.group === 'nothing') return undefined
  return outcome.group === 'works' ? 'success' : 'failure'
}

/** Takes jobs from processes that have not renewed their leases. It says nothing of their groups. */
async function recoverLost(
  tx: Writer,
  request: PollRequest,
  terms: PollTerms,
  groups: TouchedGroups,
): Promise<void> {
  const { nowMs } = terms
  const query = { kind: request.kind.name, nowMs, limit: maxRowsPerPoll }
  const how = { policy: request.kind.retry, nowMs, random: terms.random }
  for (const job of await listLostJobs(tx, query)) {
    const finished = [{ job, outcome: outcomeOfLostLease(job, how) }]
    await storeOutcomes(tx, { ...request, finished }, nowMs, groups)
  }
}

async function giveUp(
  tx: Writer,
  { kind }: PollRequest,
  { nowMs }: PollTerms,
  groups: TouchedGroups,
): Promise<void> {
  const ending = endingOf(kind, nowMs, kind.keepDeadMs ?? keepDeadMs)
  const error = 'Its time ran out before it could run'
  groups.touchAll(await giveUpOverdue(tx, { kind: kind.name, limit: maxRowsPerPoll, error, ...ending }))
}

/** Answers how many have got their place. */
async function orderNew(tx: Writer, kind: JobKind, groups: TouchedGroups): Promise<number> {
  const { count, groupKeys } = await orderNewJobs(tx, { kind: kind.name, limit: maxRowsPerPoll })
  if (groupKeys.size > 0) await addGroups(tx, kind.name, [...groupKeys])
  groups.touchAll(groupKeys)
  return count
}

async function updateGroups(
  tx: Writer,
  kind: JobKind,
  { events }: TouchedGroups,
  nowMs: number,
): Promise<void> {
  if (events.size === 0) return
  const policy = policyOf(kind)
  const after = (state: GroupState, event: GroupEvent) => {
    if (event === 'served') return afterServing(state, nowMs)
    return event === 'success' ? afterSuccess(state) : afterFailure(state, policy, nowMs)
  }
  const groups = await loadGroups(tx, kind.name, [...events.keys()])
  const changed = groups.map(({ groupKey, state, load }) => {
    const next = (events.get(groupKey) ?? []).reduce(after, state)
    return { groupKey, state: next, claimAtMs: claimAtMs(next, policy, load) }
  })
  if (changed.length > 0) await saveGroups(tx, kind.name, changed)
}

function leaseTermsOf({ kind }: PollRequest, terms: PollTerms, limit: number): LeaseTerms {
  const { nowMs, leaseNode, leaseToken } = terms
  const freesDedupKey = Number(kind.freesDedupKey ?? false)
  const leaseUntilMs = nowMs + kind.leaseMs
  return { kind: kind.name, nowMs, leaseUntilMs, leaseNode, leaseToken, freesDedupKey, limit }
}

async function leasePlain(tx: Writer, request: PollRequest, terms: PollTerms): Promise<LeasedJob[]> {
  return request.free > 0 ? leasePlainJobs(tx, leaseTermsOf(request, terms, request.free)) : []
}

/** Each round leases one job of each group that is due. */
async function leaseGrouped(
  tx: Writer,
  request: PollRequest,
  terms: PollTerms,
  free: number,
): Promise<LeasedJob[]> {
  const leased: LeasedJob[] = []
  while (leased.length < free) {
    const round = leaseTermsOf(request, terms, free - leased.length)
    const due = await listDueGroups(tx, round)
    if (due.length === 0) break
    const jobs = await leaseOneOfEachGroup(tx, round)
    const served = new TouchedGroups()
    served.touchAll(due)
    for (const { groupKey } of jobs) served.touch(groupKey, 'served')
    await updateGroups(tx, request.kind, served, terms.nowMs)
    leased.push(...jobs)
  }
  return leased
}
