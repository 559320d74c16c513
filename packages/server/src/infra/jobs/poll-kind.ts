import type { Writer } from '#infra/db/index.ts'
import { type DueWork, findDueWork, nextAtMs } from './due-work-store.ts'
import type { JobKind } from './job-kind.ts'
import { endOldLeases } from './job-lease-store.ts'
import { lockKind, orderNewJobs, promoteNext } from './job-order-store.ts'
import { endJobs, leasePlainJobs, listLostJobs, listOverdueJobs, ownKey, requeueJob } from './job-store.ts'
import type { JobRow } from './job-tables.ts'
import { leaseGrouped, TouchedGroups } from './poll-groups.ts'
import { type Outcome, outcomeOfLostLease, outcomeOfOverdue } from './retry.ts'

/** How long a dead job stays for an admin to see. */
const defaultKeepDeadMs = 30 * 24 * 3600 * 1000
/** Rows that one poll takes from each of the longer lists; the rest waits for the next, and other writes come between. */
const maxRowsPerPoll = 100
/** Before another look at rows that another node holds. */
const lockedPauseMs = 20

/** A job that has ended, or is to be tried again. */
export interface FinishedJob {
  readonly job: JobRow
  readonly outcome: Outcome
}

/** What a runner wants of a kind in one poll. */
export interface PollRequest {
  readonly kind: JobKind
  readonly finished: readonly FinishedJob[]
  /** Whether to look for jobs at all, and how many may be leased. */
  readonly looks: boolean
  readonly free: number
}

/** What all polls of a process have in common. */
export interface PollTerms {
  readonly nowMs: number
  readonly leaseToken: string
  readonly random: () => number
}

export interface PollResult {
  readonly leased: readonly JobRow[]
  /** When there is next something to do; undefined when the poll did not look. */
  readonly nextAtMs: number | undefined
}

/** One poll of a runner for one kind, in the caller's transaction: stores what became of the jobs it ran, puts lost,
 * overdue and new jobs in their places, and leases as many as it has room for. */
export async function pollKind(tx: Writer, request: PollRequest, terms: PollTerms): Promise<PollResult> {
  const { kind, finished, looks, free } = request
  const { nowMs, leaseToken } = terms
  const own = { kind: kind.name, leaseToken }
  const due = dueParts(looks ? await findDueWork(tx, own) : undefined, nowMs)
  const isGrouped = kind.group !== undefined || due.groups
  const isLocked = isGrouped || due.isArranging || finished.some(({ job }) => isArranged(job))
  if (isLocked) await lockKind(tx, kind.name)
  const groups = new TouchedGroups()
  const ended = [...finished, ...(await listExpired(tx, kind, due, terms))]
  await storeOutcomes(tx, kind, ended, { nowMs, groups })
  const placed = due.new ? await orderNewJobs(tx, { kind: kind.name, limit: maxRowsPerPoll }) : []
  for (const groupKey of placed) groups.touch(groupKey)
  await groups.save(tx, kind, nowMs)
  if (!looks) return { leased: [], nextAtMs: undefined }
  // Fairness between tenants needs to know of all jobs.
  if (placed.length === maxRowsPerPoll && kind.group === 'by tenant') return { leased: [], nextAtMs: nowMs }
  const lease = { ...own, nowMs, freesDedupKey: Number(kind.freesDedupKey ?? false) }
  const leased = free > 0 ? await leasePlainJobs(tx, { ...lease, limit: free }) : []
  if (isLocked) leased.push(...(await leaseGrouped(tx, kind, { ...lease, limit: free - leased.length })))
  // A full poll leaves the question to the next one.
  if (leased.length === free) return { leased, nextAtMs: nowMs }
  const next = nextAtMs(await findDueWork(tx, own), nowMs)
  // What is due and could not be had is locked by another node at this moment.
  const isTaken = leased.length === 0 && next <= nowMs && !due.isArranging
  return { leased, nextAtMs: isTaken ? nowMs + lockedPauseMs : next }
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

/** Whether its end may let another job of its order or group begin. */
export function isArranged({ orderingKey, groupKey }: JobRow): boolean {
  return orderingKey !== null || groupKey !== null
}

/** Jobs of processes that have not renewed their leases, and those whose time ran out. It says nothing of their groups. */
async function listExpired(
  tx: Writer,
  kind: JobKind,
  due: ReturnType<typeof dueParts>,
  { nowMs, leaseToken, random }: PollTerms,
): Promise<FinishedJob[]> {
  const query = { kind: kind.name, nowMs, limit: maxRowsPerPoll }
  const how = { policy: kind.retry, nowMs, random }
  if (due.lost) await endOldLeases(tx, { nowMs, leaseToken })
  const lost = due.lost ? await listLostJobs(tx, query) : []
  const overdue = due.overdue ? await listOverdueJobs(tx, query) : []
  return [
    ...lost.map((job) => ({ job, outcome: outcomeOfLostLease(job, how) })),
    ...overdue.map((job) => ({ job, outcome: outcomeOfOverdue(job) })),
  ]
}

async function storeOutcomes(
  tx: Writer,
  kind: JobKind,
  finished: readonly FinishedJob[],
  { nowMs, groups }: { readonly nowMs: number; readonly groups: TouchedGroups },
): Promise<void> {
  const ended: FinishedJob[] = []
  for (const { job, outcome } of finished) {
    groups.touch(job.groupKey, eventOf(outcome))
    const again = againOf(kind, { job, outcome }, nowMs)
    if (!again) ended.push({ job, outcome })
    // Another job has the key by now, and does the work of this one.
    else if (
      !(await requeueJob(tx, { ...job, ...again, dedupKey: ownKey(job, kind.freesDedupKey === true) }))
    )
      ended.push({ job, outcome: { kind: 'done' } })
  }
  await storeEnds(tx, kind, ended, nowMs)
  const orders = new Set(ended.flatMap(({ job }) => job.orderingKey ?? []))
  const promoted = orders.size > 0 ? await promoteNext(tx, kind.name, [...orders]) : []
  for (const groupKey of promoted) groups.touch(groupKey)
}

/** How a job runs again, if it does. A recurring one never ends: after its last attempt it waits for its next time like
 * after a success. */
function againOf({ everyMs }: JobKind, { job, outcome }: FinishedJob, nowMs: number) {
  if (outcome.kind === 'retry') return { atMs: outcome.atMs, attempts: job.attempts, error: outcome.error }
  if (outcome.kind === 'released')
    return { atMs: job.runAtMs, attempts: job.attempts - 1, error: job.lastError }
  if (everyMs === undefined) return undefined
  return { atMs: nowMs + everyMs, attempts: 0, error: outcome.kind === 'dead' ? outcome.error : null }
}

async function storeEnds(
  tx: Writer,
  kind: JobKind,
  ended: readonly FinishedJob[],
  nowMs: number,
): Promise<void> {
  const errorOf = (outcome: Outcome) => (outcome.kind === 'dead' ? outcome.error : null)
  const alike = Map.groupBy(
    ended,
    ({ job, outcome }) => `${job.leaseToken} ${outcome.kind} ${errorOf(outcome)}`,
  )
  for (const [first, ...rest] of alike.values()) {
    if (!first) continue
    const error = errorOf(first.outcome)
    await endJobs(tx, {
      jobIds: [first, ...rest].map(({ job }) => job.jobId),
      leaseToken: first.job.leaseToken,
      error,
      nowMs,
      keepMs: error === null ? (kind.keepDoneMs ?? 0) : (kind.keepDeadMs ?? defaultKeepDeadMs),
      keepsDedupKey: kind.keepsDedupKey ?? false,
    })
  }
}

function eventOf(outcome: Outcome): 'success' | 'failure' | undefined {
  if (outcome.kind === 'done') return 'success'
  if (outcome.kind === 'released' || outcome.group === 'nothing') return undefined
  return outcome.group === 'works' ? 'success' : 'failure'
}
