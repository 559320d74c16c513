import { countActiveSince, noteActiveDays } from '#features/accounts/index.ts'
import { countMadeHere } from '#features/actions/index.ts'
import { sumUsage } from '#features/files/index.ts'
import { countTenants, type Tenants } from '#features/tenants/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { type Jobs, recurring } from '#infra/jobs/index.ts'
import { type Clock, dayOf, nowSecs } from '#lib/clock.ts'
import { type DayCounts, deleteDaysBefore, putDay } from './day-statistics-store.ts'
import { reportLifeSecs } from './report-sockets.ts'
import { deleteReportsBefore, sumReportsSince } from './socket-report-store.ts'

export interface CountDayDeps {
  readonly db: Database
  readonly clock: Clock
  readonly tenants: Pick<Tenants, 'list'>
}

const hourMs = 3_600_000
const keptDays = 400
const tenantsAtOnce = 500

/** Counts the present day each hour, and forgets days of long ago. */
export function addDayCount(deps: CountDayDeps & { readonly jobs: Pick<Jobs, 'handle'> }): void {
  const { jobs } = deps
  recurring(jobs, { name: 'statistics.count', everyMs: hourMs, run: ({ signal }) => countDay(deps, signal) })
}

async function countDay(deps: CountDayDeps, signal: AbortSignal): Promise<void> {
  const { db, clock } = deps
  const counts = await countNow(deps, signal)
  if (signal.aborted) return
  const { day } = counts
  await db.transact(
    serverTenant,
    async (tx) => {
      await putDay(tx, counts)
      await deleteDaysBefore(tx, day - keptDays)
      await deleteReportsBefore(tx, nowSecs(clock) - reportLifeSecs)
    },
    { isolation: 'read-committed', isBackground: true },
  )
}

/** The day so far, with the WebSockets of now. */
export async function countNow(
  { db, clock, tenants }: CountDayDeps,
  signal?: AbortSignal,
): Promise<DayCounts> {
  await noteActiveDays(db, signal)
  const day = dayOf(clock.now())
  const reader = db.reader(serverTenant)
  const actions = await countActions({ db, tenants }, signal)
  const { people, communities } = await countTenants(reader)
  const activePeople = await countActiveSince(reader, day)
  const sockets = await sumReportsSince(reader, nowSecs(clock) - reportLifeSecs)
  return { day, activePeople, people, communities, actions, sockets, ...(await sumUsage(reader)) }
}

/** In portions, so that others have their turn. */
async function countActions({ db, tenants }: Pick<CountDayDeps, 'db' | 'tenants'>, signal?: AbortSignal) {
  let sum = 0
  for (let after = serverTenant; !signal?.aborted; ) {
    const page = await tenants.list({ after, limit: tenantsAtOnce })
    sum += await countMadeHere(db.reader(serverTenant), page)
    const last = page.at(-1)
    if (!last || page.length < tenantsAtOnce) break
    after = last.tenantId
  }
  return sum
}
