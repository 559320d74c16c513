import { type CursorPage, type DeliveryHost, decodeCursor, encodeCursor, toIso } from '@kith/protocol'
import { type Database, type Reader, serverTenant } from '#infra/db/index.ts'
import type { GroupRecord } from '#infra/jobs/index.ts'
import { invalid } from '#lib/failure.ts'
import { deliverJob } from './outbox-jobs.ts'

export interface ListHostsDeps {
  readonly db: Database
  readonly listGroups: (
    reader: Reader,
    page: { kind: string; limit: number; afterGroupKey?: string; onlyFailing?: boolean },
  ) => Promise<GroupRecord[]>
}

interface HostsQuery {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly failing?: boolean | undefined
}

const sort = 'host'

/** The servers that receive deliveries, ordered by name. */
export async function listDeliveryHosts(
  deps: ListHostsDeps,
  { limit = 20, cursor, failing = false }: HostsQuery,
): Promise<CursorPage<DeliveryHost>> {
  const after = cursor === undefined ? '' : decodeCursor(cursor, sort)?.v
  if (typeof after !== 'string') throw invalid('/query/cursor', 'is not a cursor of this list')
  const found = await deps.listGroups(deps.db.reader(serverTenant), {
    kind: deliverJob.name,
    limit: limit + 1,
    afterGroupKey: after,
    onlyFailing: failing,
  })
  const last = found.length > limit ? found[limit - 1] : undefined
  const nextCursor = last ? encodeCursor({ s: sort, v: last.groupKey, id: last.groupKey }) : null
  return { items: found.slice(0, limit).map(hostView), nextCursor }
}

function hostView(group: GroupRecord): DeliveryHost {
  const { groupKey, queued, failures, oldestAtMs, lastServedAtMs, restsUntilMs } = group
  return {
    host: groupKey,
    queued,
    failures,
    ...(oldestAtMs === undefined ? {} : { oldestAt: toIso(oldestAtMs / 1000) }),
    ...(lastServedAtMs === undefined ? {} : { lastTriedAt: toIso(lastServedAtMs / 1000) }),
    ...(restsUntilMs === undefined ? {} : { restsUntil: toIso(restsUntilMs / 1000) }),
  }
}
