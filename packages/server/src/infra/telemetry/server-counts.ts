import { Gauge, Registry } from 'prom-client'
import type { ServerCounts } from './metrics.ts'

/** Gauges whose values are read at each scrape. */
export interface ServerCountGauges {
  follow(read: () => Promise<ServerCounts>): void
  /** Empty while the counts cannot be read: a number from before would look like one of now. */
  read(): Promise<Registry>
}

export function openServerCounts(): ServerCountGauges {
  let readCounts: (() => Promise<ServerCounts>) | undefined
  // Concurrent scrapes share one query.
  let reading: Promise<Registry> | undefined
  return {
    follow(read) {
      readCounts = read
    },
    read() {
      reading ??= readInto(readCounts).finally(() => {
        reading = undefined
      })
      return reading
    },
  }
}

async function readInto(read: (() => Promise<ServerCounts>) | undefined): Promise<Registry> {
  const registry = new Registry()
  const counts = await read?.().catch(() => undefined)
  if (counts) fill(registry, counts)
  return registry
}

function fill(registry: Registry, counts: ServerCounts): void {
  const { tenants, people, storage, freeBytes, databaseBytes, jobs } = counts
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const byStatus = gauge('kith_tenants', 'Tenants of the server.', ['status'])
  byStatus.set({ status: 'active' }, tenants.active)
  byStatus.set({ status: 'suspended' }, tenants.suspended)
  const byDays = gauge('kith_active_people', 'People who were here in the last days.', ['days'])
  byDays.set({ days: '7' }, people.activeIn7Days)
  byDays.set({ days: '30' }, people.activeIn30Days)
  gauge('kith_storage_bytes', 'Bytes that tenants store.').set(storage.usedBytes)
  gauge('kith_storage_files', 'Files that tenants store.').set(storage.files)
  gauge('kith_disk_free_bytes', 'Bytes that the disk of the data folder has left.').set(freeBytes)
  gauge('kith_database_size_bytes', 'Bytes that the database takes, with its log.').set(databaseBytes)
  const byState = gauge('kith_jobs', 'Jobs that wait, run or were given up.', ['kind', 'state'])
  for (const { kind, waiting, running, failed } of jobs)
    for (const [state, count] of Object.entries({ waiting, running, failed }))
      byState.set({ kind, state }, count)
}
