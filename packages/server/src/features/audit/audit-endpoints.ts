import { getAuditLog, getModerationLog } from '@kith/protocol'
import type { Database } from '#infra/db/index.ts'
import { bind, type Endpoint } from '#infra/http/index.ts'
import type { Clock } from '#lib/clock.ts'
import { listAuditLog, listModeration } from './list-audit-log.ts'

export function auditEndpoints(deps: { readonly db: Database; readonly clock: Clock }): Endpoint[] {
  return [
    bind(getAuditLog, ({ tenant, query }) => listAuditLog(deps, { tenant, limit: 20, ...query })),
    bind(getModerationLog, ({ tenant, query }) => listModeration(deps, { tenant, limit: 20, ...query })),
  ]
}
