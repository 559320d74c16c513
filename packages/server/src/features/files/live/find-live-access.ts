import type { FileId } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { type AccessibleFile, findAccessibleFile } from '../access/file-access-store.ts'
import type { FileLevel, FileViewer } from '../access/file-viewer.ts'
import { findFileViewer } from '../access/find-file-viewer.ts'
import { isLive } from './live-file-store.ts'

interface AccessDeps {
  readonly db: Database
  readonly clock: Pick<Clock, 'now'>
}

/** What a caller may do with a file that it has open; `gone` when the file is, or in the trash. */
export type LiveAccess = Exclude<FileLevel, 0> | 'withdrawn' | 'gone'

/** Looks up what callers may do with files now, each caller and each pair of caller and file once. It is made for one
 * look and thrown away. */
export class AccessLook {
  readonly #deps: AccessDeps
  // Bounded by the sockets that are looked at.
  readonly #viewers = new Map<string, Promise<FileViewer>>()
  readonly #found = new Map<string, Promise<LiveAccess>>()

  constructor(deps: AccessDeps) {
    this.#deps = deps
  }

  /** The file, trash included, when the caller may read it. */
  async find(tenant: Tenant, caller: Caller, fileId: FileId): Promise<AccessibleFile | undefined> {
    const { db, clock } = this.#deps
    const key = keyOf(tenant, caller)
    const reader = db.reader(tenant.tenantId)
    const now = nowSecs(clock)
    let viewer = this.#viewers.get(key)
    if (!viewer) {
      viewer = findFileViewer(reader, { tenant, caller, now })
      this.#viewers.set(key, viewer)
    }
    return await findAccessibleFile(reader, await viewer, { fileId, now })
  }

  access(tenant: Tenant, caller: Caller, fileId: FileId): Promise<LiveAccess> {
    const key = `${fileId} ${keyOf(tenant, caller)}`
    const known = this.#found.get(key)
    if (known) return known
    const access = this.#access(tenant, caller, fileId)
    this.#found.set(key, access)
    return access
  }

  async #access(tenant: Tenant, caller: Caller, fileId: FileId): Promise<LiveAccess> {
    const found = await this.find(tenant, caller, fileId)
    if (found && found.file.status !== 'D') return found.level as Exclude<FileLevel, 0>
    return (await isLive(this.#deps.db.reader(tenant.tenantId), fileId)) ? 'withdrawn' : 'gone'
  }
}

/** Whatever the rights of a caller depend on, but not which of its sessions it is. */
function keyOf({ tenantId }: Tenant, caller: Caller): string {
  switch (caller.kind) {
    case 'guest':
      return `${tenantId}`
    case 'reference':
      return JSON.stringify([tenantId, caller.refId, caller.scope])
    case 'identity': {
      const { idTag, tokenUse, scope, role, isOwner, isAdmin } = caller
      return JSON.stringify([tenantId, idTag, tokenUse, scope, role, isOwner, isAdmin])
    }
  }
}
