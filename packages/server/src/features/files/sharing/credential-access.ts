import type { FileId, IdTag } from '@kith/protocol'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { findAccessibleFile } from '../access/file-access-store.ts'
import { type FileViewer, writeLevel } from '../access/file-viewer.ts'
import { findFileViewer, findViewerNamed } from '../access/find-file-viewer.ts'

interface AccessDeps {
  readonly db: Database
  readonly clock: Clock
}

/** What tokens and references for single files ask: may their holder, or their maker, do so now? */
export function credentialAccess(deps: AccessDeps) {
  return {
    async findFileAccess(tenant: Tenant, caller: Identified, fileId: FileId) {
      return (await accessOf(deps, tenant, { who: await viewerOf(deps, tenant, caller), fileId }))?.level
    },
    /** What the caller may give on: nothing of another owner's file, of which a copy is here. */
    async findGrantableAccess(tenant: Tenant, caller: Identified, fileId: FileId) {
      const access = await accessOf(deps, tenant, { who: await viewerOf(deps, tenant, caller), fileId })
      return access?.isCopy ? ('read' as const) : access?.level
    },
    async findMakersFileAccess(tenant: Tenant, makerTag: IdTag, fileId: FileId) {
      const who = await findViewerNamed(deps.db.reader(tenant.tenantId), tenant, makerTag)
      const access = await accessOf(deps, tenant, { who, fileId })
      return access?.level === 'write' && !access.isCopy ? access.level : undefined
    },
  }
}

function viewerOf({ db, clock }: AccessDeps, tenant: Tenant, caller: Identified): Promise<FileViewer> {
  return findFileViewer(db.reader(tenant.tenantId), { tenant, caller, now: nowSecs(clock) })
}

async function accessOf(
  { db, clock }: AccessDeps,
  { tenantId }: Tenant,
  { who, fileId }: { readonly who: FileViewer; readonly fileId: FileId },
) {
  const found = await findAccessibleFile(db.reader(tenantId), who, { fileId, now: nowSecs(clock) })
  if (!found || found.file.status === 'D') return undefined
  const level = found.level >= writeLevel ? ('write' as const) : ('read' as const)
  return { level, isCopy: found.file.isCopy }
}
