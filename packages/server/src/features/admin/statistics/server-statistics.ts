import type { ServerStatistics } from '@kith/protocol'
import { countActiveSince } from '#features/accounts/index.ts'
import { sumUsage } from '#features/files/index.ts'
import { countTenants } from '#features/tenants/index.ts'
import { type Reader, serverTenant } from '#infra/db/index.ts'
import { countByState } from '#infra/jobs/index.ts'
import { dayOf } from '#lib/clock.ts'
import { type CountDayDeps, countNow } from './count-day.ts'
import { type DayCounts, listDays } from './day-statistics-store.ts'

/** How the server stands, whichever process is asked. */
export type Statistics = Omit<ServerStatistics, 'version' | 'startedAt'>

/** What a few queries tell, whatever the number of tenants. */
type Counts = Pick<Statistics, 'tenants' | 'people' | 'communities' | 'storage' | 'jobs'>

const shownDays = 31

/** Each is answered by an index or a small table. */
export async function getCounts({ db, clock }: Pick<CountDayDeps, 'db' | 'clock'>): Promise<Counts> {
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

/** The same with what is counted over all tenants, and with the days before. */
export async function getStatistics(deps: CountDayDeps): Promise<Statistics> {
  const { db, clock } = deps
  const now = await countNow(deps)
  const [counts, counted] = await Promise.all([
    getCounts(deps),
    listDays(db.reader(serverTenant), { from: dayOf(clock.now()) - shownDays + 1, limit: shownDays }),
  ])
  const [earlier] = counted.filter(({ day }) => day === now.day)
  const today = { ...now, sockets: Math.max(now.sockets, earlier?.sockets ?? 0) }
  const days = [today, ...counted.filter(({ day }) => day < now.day)]
  return { ...counts, actions: now.actions, sockets: now.sockets, days: days.map(viewOf) }
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
