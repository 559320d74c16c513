import {
  type CursorPage,
  type FileOrigin,
  type FileSort,
  type FileStatus,
  type FileType,
  foldText,
  type MonthCount,
  maxSearchWords,
  type OffsetPage,
  parseFileId,
  parseTag,
} from '@kith/protocol'
import { actsAsTenant } from '#features/relations/index.ts'
import type { Caller, Identified, Tenant } from '#infra/caller/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { invalid } from '#lib/failure.ts'
import { findFileViewer } from './access/find-file-viewer.ts'
import type { ReadDeps } from './access/read-file.ts'
import type { FileFilter } from './file-filter-store.ts'
import { type FileListing, type ListedFile, listFilePage, listFilesFrom } from './file-list-store.ts'
import { listTagCounts } from './file-tags-store.ts'
import { countByMonth } from './file-timeline-store.ts'

interface FilterQuery {
  readonly fileTp?: readonly FileType[]
  readonly contentType?: string
  readonly tags?: readonly string[]
  readonly origin?: FileOrigin
  /** A folder, `__root__` or `__trash__`. */
  readonly parentId?: string
  readonly status?: readonly FileStatus[]
  readonly takenAfter?: number
  readonly takenBefore?: number
  readonly search?: string
}

interface FileQuery extends FilterQuery {
  readonly sort?: FileSort
  readonly sortDir?: 'asc' | 'desc'
  readonly limit?: number
  readonly cursor?: string
  readonly offset?: number
}

/** The files that the caller may read, by page. */
export async function listFiles(
  deps: ReadDeps,
  { tenant, caller, query }: { readonly tenant: Tenant; readonly caller: Caller; readonly query: FileQuery },
): Promise<CursorPage<ListedFile> | OffsetPage<ListedFile>> {
  const { sort = 'created', limit = 20, cursor, offset } = query
  const { sortDir = sort === 'name' ? 'asc' : 'desc' } = query
  const filter = filterOf(query)
  if (!filter)
    return offset === undefined ? { items: [], nextCursor: null } : { items: [], total: 0, offset, limit }
  const reader = deps.db.reader(tenant.tenantId)
  const now = nowSecs(deps.clock)
  const who = await findFileViewer(reader, { tenant, caller, now })
  const listing: FileListing = { filter, sort, direction: sortDir, limit, now }
  return offset === undefined
    ? await listFilePage(reader, who, { ...listing, cursor })
    : await listFilesFrom(reader, who, { ...listing, offset })
}

/** How many files of each month the caller may read. */
export async function countMonths(
  deps: ReadDeps,
  {
    tenant,
    caller,
    query,
  }: { readonly tenant: Tenant; readonly caller: Caller; readonly query: FilterQuery },
): Promise<MonthCount[]> {
  const filter = filterOf(query)
  if (!filter) return []
  const reader = deps.db.reader(tenant.tenantId)
  const now = nowSecs(deps.clock)
  const who = await findFileViewer(reader, { tenant, caller, now })
  return await countByMonth(reader, who, { filter, now })
}

/** Undefined for a folder that cannot exist. */
function filterOf(query: FilterQuery): FileFilter | undefined {
  const { fileTp, contentType, tags, origin, parentId, status, takenAfter, takenBefore, search = '' } = query
  const words = [...new Set(foldText(search).match(/\S+/g))]
  if (words.length > maxSearchWords) throw invalid('/query/search', `has more than ${maxSearchWords} words`)
  const place = parentId === undefined ? undefined : placeOf(parentId)
  if (parentId !== undefined && !place) return undefined
  return {
    ...(place && { place }),
    ...(fileTp && { fileTps: fileTp }),
    ...(contentType === undefined || contentType === '*/*' ? {} : { contentType: contentType.toLowerCase() }),
    ...(tags && { tags: tags.map((tag) => parseTag(tag) ?? tag) }),
    ...(origin && { origin }),
    ...(status && { statuses: status }),
    ...(takenAfter === undefined ? {} : { takenAfter }),
    ...(takenBefore === undefined ? {} : { takenBefore }),
    ...(words.length > 0 && { words }),
  }
}

function placeOf(text: string): FileFilter['place'] {
  if (text === '__root__') return 'root'
  if (text === '__trash__') return 'trash'
  const parentId = parseFileId(text)
  return parentId && { parentId }
}

/** The tags of the caller's own files: the tenant's, for whoever acts for it. */
export async function listTags(
  { db }: Pick<ReadDeps, 'db'>,
  input: {
    readonly tenant: Tenant
    readonly caller: Identified
    readonly prefix: string
    readonly limit: number
  },
): Promise<{ tag: string; count: number }[]> {
  const { tenant, caller, prefix, limit } = input
  const ownerTag = tenant.type === 'person' && actsAsTenant(caller, tenant) ? tenant.idTag : caller.idTag
  return await listTagCounts(db.reader(tenant.tenantId), { ownerTag, prefix, limit })
}
