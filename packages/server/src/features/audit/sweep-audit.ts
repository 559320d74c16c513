import { addSweep, type SweepDeps } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'
import { deleteOldEntries } from './audit-store.ts'

export const auditKeptMs = 180 * 24 * 3_600_000
const hourMs = 3_600_000

/** Removes entries of all tenants that are older than a list shows. */
export function addAuditSweep({ clock, ...deps }: SweepDeps & { readonly clock: Clock }): void {
  addSweep(deps, { name: 'audit.sweep', everyMs: hourMs }, (tx, limit) =>
    deleteOldEntries(tx, { upTo: clock.now() - auditKeptMs - 1, limit }),
  )
}
