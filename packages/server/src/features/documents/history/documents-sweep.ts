import { addSweep, type SweepDeps } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { lockDocument } from '../log/document-log-store.ts'
import { listThinnable } from './snapshot-store.ts'
import { thinStoredHistory } from './thin-history.ts'

const hourMs = 3_600_000
// A snapshot may be large.
const documentsPerPortion = 10

/** Thins the history of documents that were not changed since, over all tenants. */
export function addDocumentsSweep({ clock, ...deps }: SweepDeps & { readonly clock: Clock }): void {
  addSweep(deps, { name: 'documents.sweep', everyMs: hourMs }, async (tx, limit) => {
    const now = nowSecs(clock)
    const due = await listThinnable(tx, { upTo: now, limit: Math.min(limit, documentsPerPortion) })
    for (const { tenantId, fileId } of due) {
      const own = tx.as(tenantId)
      await lockDocument(own, fileId)
      await thinStoredHistory(own, fileId, now)
    }
    return due.length
  })
}
