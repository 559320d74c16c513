import { type AccessLevel, accessLevels, type IdTag, type Scope } from '@kith/protocol'
import { findReference } from '#features/accounts/index.ts'
import {
  actsAsTenant,
  findEffectiveRelation,
  findViewer,
  roleOf,
  viewerOf,
} from '#features/relations/index.ts'
import { type Caller, identified, type ReferenceGuest, type Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { findAccessibleFile } from './file-access-store.ts'
import { type FileKey, type FileLevel, type FileViewer, readLevel, writeLevel } from './file-viewer.ts'

/** The viewer that a caller is. `now`: Unix seconds. */
export async function findFileViewer(
  reader: Reader,
  { tenant, caller, now }: { readonly tenant: Tenant; readonly caller: Caller; readonly now: number },
): Promise<FileViewer> {
  // Whom the tenant blocks or mutes makes no difference to what is its own.
  const viewer = actsAsTenant(caller, tenant)
    ? viewerOf(tenant, caller, {})
    : await findViewer(reader, tenant, caller)
  if (caller.kind === 'reference') {
    const held = await findHeld(reader, { tenant, caller, now })
    return { viewer, held, limits: { everywhere: writeLevel, single: [] } }
  }
  // Nobody in particular, and whom the tenant blocks, change nothing.
  if (caller.kind === 'guest' || viewer.idTag === undefined)
    return { viewer, held: [], limits: { everywhere: readLevel, single: [] } }
  return { viewer, held: [], limits: caller.scope && limitsOf(caller.scope) }
}

/** The viewer that an identity would be, without a token. */
export async function findViewerNamed(reader: Reader, tenant: Tenant, idTag: IdTag): Promise<FileViewer> {
  const isOwner = idTag === tenant.idTag
  const relation = isOwner ? undefined : await findEffectiveRelation(reader, idTag)
  const role = isOwner ? 'leader' : relation ? roleOf(relation) : 'public'
  const caller = identified(idTag, { tokenUse: 'login', role, isOwner })
  return { viewer: viewerOf(tenant, caller, { relation }), held: [], limits: undefined }
}

/** What a reference gives now: never more than when its token was given, and nothing while its maker may not give. */
async function findHeld(
  reader: Reader,
  { tenant, caller, now }: { readonly tenant: Tenant; readonly caller: ReferenceGuest; readonly now: number },
): Promise<FileKey[]> {
  const reference = await findReference(reader, caller.refId)
  if (!reference || (reference.expiresAt ?? Number.POSITIVE_INFINITY) <= now) return []
  const { resourceId, accessLevel = 'read', createdBy } = reference
  const key = keysOf(caller.scope).find(({ fileId }) => fileId === resourceId)
  if (!key || createdBy === undefined) return []
  const maker = await findViewerNamed(reader, tenant, createdBy)
  const makers = await findAccessibleFile(reader, maker, { fileId: key.fileId, now })
  // Who may only read gives nothing on, and nobody a copy.
  if (!makers || makers.level < writeLevel || makers.file.isCopy) return []
  const level = Math.min(key.level, levelOf(accessLevel)) as FileLevel
  return level === 0 ? [] : [{ fileId: key.fileId, level }]
}

function limitsOf(scope: Scope) {
  const areas = scope.flatMap((item) =>
    'area' in item && (item.area === '*' || item.area === 'files') ? [levelOf(item.level)] : [],
  )
  const everywhere = Math.max(0, ...areas) as FileLevel
  return { everywhere, single: keysOf(scope) }
}

function keysOf(scope: Scope): FileKey[] {
  return scope.flatMap((item) =>
    'fileId' in item ? [{ fileId: item.fileId, level: levelOf(item.level) }] : [],
  )
}

function levelOf(level: AccessLevel): FileLevel {
  return (accessLevels.indexOf(level) + 1) as FileLevel
}
