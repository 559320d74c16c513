import type { ServerStatistics } from '@kith/protocol'
import { countActiveSince } from '#features/accounts/index.ts'
import { sumUsage } from '#features/files/index.ts'
import { countTenants } from '#features/tenants/index.ts'
import { type Database, type Reader, serverTenant } from '#infra/db/index.ts'
import { countByState } from '#infra/jobs/index.ts'
import { type Clock, dayOf, nowSecs } from '#lib/clock.ts'
import { type DayCounts, listDays } from './day-statistics-store.ts'
import { reportLifeSecs } from './report-sockets.ts'
import { sumReportsSince } from './socket-report-store.ts'

interface StatisticsDeps {
  readonly db: Database
  readonly clock: Pick<Clock, 'now'>
}

/** How the server stands, whichever process is asked. */
export type Statistics = Omit<ServerStatistics, 'version' | 'startedAt'>

/** What is counted without looking at days. */
type Counts = Pick<Statistics, 'tenants' | 'people' | 'communities' | 'storage' | 'jobs'>

const shownDays = 31

/** A few counts, each of which an index or a small table answers. */
export async function getCounts({ db, clock }: StatisticsDeps): Promise<Counts> {
  const reader = db.reader(serverTenant)
  const today = dayOf(clock.now())
  const [tenants, storage, jobs, activeIn7Days, activeIn30Days] = await Promise.all([
    countTenants(reader),
    sumUsage(reader),
    countJobs(reader),
    countActiveSince(reader, today - 6),
    countActiveSince(reader, today - 29),
  ])
  const { people, communities, active, suspended } = tenants
  return {
    tenants: { active, suspended },
    people: { total: people, activeIn7Days, activeIn30Days },
    communities,
    storage,
    jobs,
  }
}

/** The same with what is counted each hour, by day. */
export async function getStatistics(deps: StatisticsDeps): Promise<Statistics> {
  const reader = deps.db.reader(serverTenant)
  const [counts, days, sockets] = await Promise.all([
    getCounts(deps),
    listDays(reader, { from: dayOf(deps.clock.now()) - shownDays + 1, limit: shownDays }),
    sumReportsSince(reader, nowSecs(deps.clock) - reportLifeSecs),
  ])
  return { ...counts, actions: days[0]?.actions ?? 0, sockets, days: days.map(viewOf) }
}

function viewOf({ day, ...counts }: DayCounts) {
  return { day: new Date(day * 86_400_000).toISOString().slice(0, 10), ...counts }
}

async function countJobs(reader: Reader): Promise<ServerStatistics['jobs']> {
  const byKind = Map.groupBy(await countByState(reader), ({ kind }) => kind)
  const kinds = [...byKind].sort(([one], [other]) => (one < other ? -1 : 1))
  return kinds.map(([kind, counts]) => {
    const sum = (...states: string[]) =>
      counts.reduce((total, { state, count }) => total + (states.includes(state) ? Number(count) : 0), 0)
    return {
      kind,
      // What is to run every so often is no backlog.
      waiting: counts.some(({ isRecurring }) => isRecurring) ? 0 : sum('new', 'ready', 'waiting'),
      running: sum('leased'),
      failed: sum('dead'),
    }
  })
}
