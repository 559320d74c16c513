import type { Writer } from '#infra/db/index.ts'
import { afterFailure, afterServing, afterSuccess, claimAtMs, policyOf } from './group-breaker.ts'
import { leaseOneOfEachGroup, listDueGroups, loadGroups, saveGroups } from './job-group-store.ts'
import type { JobKind } from './job-kind.ts'
import type { LeaseTerms } from './job-store.ts'
import type { JobRow } from './job-tables.ts'

type GroupEvent = 'success' | 'failure' | 'served'

/** The groups that a step of a poll has touched, with what happened to each; at most a few per row of the poll. */
export class TouchedGroups {
  readonly #events = new Map<string, GroupEvent[]>()

  touch(groupKey: string | null, event?: GroupEvent): void {
    if (groupKey === null) return
    const events = this.#events.get(groupKey) ?? []
    if (event) events.push(event)
    this.#events.set(groupKey, events)
  }

  /** Stores what has changed, and when each may next be given a job. */
  async save(tx: Writer, kind: JobKind, nowMs: number): Promise<void> {
    if (this.#events.size === 0) return
    const policy = policyOf(kind)
    const groups = await loadGroups(tx, kind.name, [...this.#events.keys()])
    const changed = groups.map(({ groupKey, load, ...stored }) => {
      let { state } = stored
      for (const event of this.#events.get(groupKey) ?? []) {
        if (event === 'served') state = afterServing(state, nowMs)
        else state = event === 'success' ? afterSuccess(state) : afterFailure(state, policy, nowMs)
      }
      return { groupKey, state, claimAtMs: claimAtMs(state, policy, load) }
    })
    await saveGroups(tx, kind.name, changed)
  }
}

/** Leases jobs in rounds, one of each group that is due. */
export async function leaseGrouped(tx: Writer, kind: JobKind, terms: LeaseTerms): Promise<JobRow[]> {
  const leased: JobRow[] = []
  while (leased.length < terms.limit) {
    const round = { ...terms, limit: terms.limit - leased.length }
    const jobs = await leaseOneOfEachGroup(tx, round)
    // One that looks due and has nothing to run is looked at once more.
    const idle = jobs.length === 0 ? await listDueGroups(tx, round) : []
    if (jobs.length + idle.length === 0) break
    const served = new TouchedGroups()
    for (const groupKey of idle) served.touch(groupKey)
    for (const { groupKey } of jobs) served.touch(groupKey, 'served')
    await served.save(tx, kind, terms.nowMs)
    leased.push(...jobs)
  }
  return leased
}
