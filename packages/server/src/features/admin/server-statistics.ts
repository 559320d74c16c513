import type { ServerStatistics } from '@kith/protocol'
import { sumUsage } from '#features/files/index.ts'
import { countByStatus } from '#features/tenants/index.ts'
import { type Database, type Reader, serverTenant } from '#infra/db/index.ts'
import { countByState } from '#infra/jobs/index.ts'

/** How the server stands, whichever process is asked. */
export type Statistics = Pick<ServerStatistics, 'tenants' | 'storage' | 'jobs'>

/** A few counts, each of which an index or a small table answers. */
export async function getStatistics({ db }: { readonly db: Database }): Promise<Statistics> {
  const reader = db.reader(serverTenant)
  const [tenants, storage, jobs] = await Promise.all([
    countByStatus(reader),
    sumUsage(reader),
    countJobs(reader),
  ])
  return { tenants, storage, jobs }
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
