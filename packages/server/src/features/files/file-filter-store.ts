import type { FileId, FileOrigin, FileStatus, FileType } from '@kith/protocol'
import { type Expression, type SqlBool, sql } from 'kysely'
import { contains, type Reader, type ReadTables } from '#infra/db/index.ts'
import {
  type AccessNames,
  type AccessTables,
  inTrash,
  isReadableFile,
} from './access/file-access-predicate.ts'
import { accessNames } from './access/file-access-store.ts'
import type { FileViewer } from './access/file-viewer.ts'
import { candidatesForLists, type ListCandidates } from './access/list-candidates-predicate.ts'
import { isAnyChanging } from './folders/folder-change-predicate.ts'

export type ListTables = AccessTables & {
  collection_items: {
    tenant_id: number
    id_tag: string
    collection: string
    item_id: string
    added_at: number
  }
}
type Condition = Expression<SqlBool>

/** When a picture was taken; of files of which that is not known, when they were created. Indexes hold this expression. */
export const takenOrCreated = sql<number>`coalesce(files.taken_at, files.created_at)`

export interface FileFilter {
  readonly fileTps?: readonly FileType[]
  /** Exact, or with a final `*` the beginning. */
  readonly contentType?: string
  /** Any of them. */
  readonly tags?: readonly string[]
  readonly origin?: FileOrigin
  readonly place?: 'root' | 'trash' | { readonly parentId: FileId }
  readonly statuses?: readonly FileStatus[]
  /** Unix seconds, of `takenOrCreated`: from this one on. */
  readonly takenAfter?: number
  /** Up to this one, without it. */
  readonly takenBefore?: number
  /** All of them stand in the name; each folded. */
  readonly words?: readonly string[]
}

export interface FilterRequest {
  readonly filter: FileFilter
  /** Unix seconds. */
  readonly now: number
  /** How many files may be looked at one by one, before all are in their order; a thousand when absent. */
  readonly maxCandidates?: number
}

/** A request that says where to look. */
export type Bounded<Request extends FilterRequest> = Request & {
  readonly candidates: ListCandidates | undefined
  /** Where the viewer may read few files: those, and some more. */
  readonly among: readonly string[] | undefined
  readonly withoutChanges?: true
}

const manyFiles = 1_000
// So few are sorted sooner than they are met in the order of all files, and each may be asked for its shares.
const fewFiles = 50

/** Who may read few files of many does not have all of them looked at; of many, a page in their order is found soon. */
export async function withCandidates<Request extends FilterRequest>(
  reader: Reader,
  who: FileViewer,
  request: Request,
): Promise<Bounded<Request>> {
  const { now, maxCandidates = manyFiles } = request
  const candidates = candidatesForLists(who, accessNames(reader, who, now))
  if (!candidates) return { ...request, candidates, among: await findFew(reader, request) }
  const rows = await withGranted(reader, candidates)
    .selectFrom(sql<{ file_id: string }>`(${candidates.query})`.as('candidate'))
    .select('candidate.file_id')
    .limit(maxCandidates + 1)
    .execute()
  if (rows.length > maxCandidates) return { ...request, candidates, among: await findFew(reader, request) }
  const among = [...new Set(rows.map(({ file_id }) => file_id))]
  return { ...request, candidates: among.length > fewFiles ? candidates : undefined, among }
}

async function findFew(reader: Reader, request: FilterRequest): Promise<string[] | undefined> {
  return (await findNamed(reader, request)) ?? (await findOfOrigin(reader, request))
}

/** The ids of the files with the origin asked for, where they are few (`maxCandidates`); undefined where they are many. An index
 * over all files would be read past every file of the other origin before a page is full. */
async function findOfOrigin(
  reader: Reader,
  { filter, maxCandidates = manyFiles }: FilterRequest,
): Promise<string[] | undefined> {
  const { origin, place } = filter
  if (!origin || !isLiveOnly(filter)) return undefined
  const rows = await reader
    .tables<ListTables>()
    .selectFrom('files')
    .select('file_id')
    .where('tenant_id', '=', reader.tenantId)
    .where(origin === 'own' ? isOwnLive : isLiveCopy)
    .$if(place !== undefined, (query) => query.where(isIn(place as NonNullable<FileFilter['place']>)))
    .limit(maxCandidates + 1)
    .execute()
  return rows.length > maxCandidates ? undefined : rows.map(({ file_id }) => file_id)
}

// The conditions of the indexes stand here word for word.
const isOwnLive = sql<SqlBool>`(is_copy = 0 and status <> 'D')`
const isLiveCopy = sql<SqlBool>`(is_copy = 1 and status <> 'D')`

/** The files of the tenant with the words in their names, where there are few: an index is read through, and not the rows
 * in their order. Of many, a page is met soon. */
async function findNamed(
  reader: Reader,
  { filter: { words }, maxCandidates = manyFiles }: FilterRequest,
): Promise<string[] | undefined> {
  if (!words) return undefined
  const rows = await reader
    .tables<ListTables>()
    .selectFrom('files')
    .select('file_id')
    .where('tenant_id', '=', reader.tenantId)
    .where(allIn(reader, words))
    .limit(maxCandidates + 1)
    .execute()
  return rows.length > maxCandidates ? undefined : rows.map(({ file_id }) => file_id)
}

function allIn({ dialect }: Reader, words: readonly string[]): Condition {
  const conditions = words.map((word) => contains(dialect, 'files.search_name', word))
  // The condition of the index stands here word for word.
  return sql<SqlBool>`(files.search_name <> '' and ${sql.join(conditions, sql` and `)})`
}

/** The files that the filter finds and the viewer may read. */
export function selectReadable(reader: Reader, who: FileViewer, request: Bounded<FilterRequest>) {
  const { candidates, among, withoutChanges } = request
  const names = namesOf(reader, who, request)
  const conditions = [
    isAmong(reader, among),
    ...(withoutChanges ? [sql<SqlBool>`not ${isAnyChanging(names.tenantId)}`] : []),
    ...conditionsOf(names, request),
    ...(request.filter.words ? [allIn(reader, request.filter.words)] : []),
    isReadableFile(who, names),
  ]
  return withGranted(reader, candidates)
    .selectFrom('files')
    .where(sql.join(conditions, sql` and `) as Condition)
}

/** All files in the place and period of the filter, whatever else it says and whoever may read them: not to be shown. */
export function selectInRange(reader: Reader, filter: FileFilter) {
  const status = isLiveOnly(filter) ? [sql<SqlBool>`files.status <> 'D'`] : []
  return reader
    .tables<ListTables>()
    .selectFrom('files')
    .where('files.tenant_id', '=', reader.tenantId)
    .where(sql.join([sql<SqlBool>`true`, ...status, ...rangeOf(filter)], sql` and `) as Condition)
}

/** Nothing in the trash is asked for, which the indexes in the order of time leave out. */
export function isLiveOnly({ place, statuses }: FileFilter): boolean {
  return place !== 'trash' && !statuses?.includes('D')
}

export function namesOf(
  reader: Reader,
  who: FileViewer,
  { now, candidates, withoutChanges }: Bounded<FilterRequest>,
): AccessNames {
  return {
    ...accessNames(reader, who, now),
    ...(withoutChanges && { withoutChanges }),
    ...(candidates && { granted: sql`granted` }),
  }
}

function withGranted(
  reader: Reader,
  candidates: ListCandidates | undefined,
): Pick<ReadTables<ListTables>, 'selectFrom'> {
  const tables = reader.tables<ListTables>()
  return candidates ? tables.withRecursive('granted(file_id)', () => sql`(${candidates.granted})`) : tables
}

/** Reads without regard to folders that are being changed, of which there are hardly ever any: by a statement that
 * answers nothing while there are. Where it answers nothing the other is asked. */
export async function unlessChanging<
  Request extends FilterRequest,
  Read extends { readonly items: readonly unknown[] },
>(request: Bounded<Request>, read: (way: Bounded<Request>) => Promise<Read>): Promise<Read> {
  const found = await read({ ...request, withoutChanges: true })
  return found.items.length > 0 ? found : await read(request)
}

function conditionsOf(names: AccessNames, request: Bounded<FilterRequest>): Condition[] {
  const { fileTps, contentType, tags, origin } = request.filter
  return [
    hasStatus(names, request),
    ...rangeOf(request.filter),
    ...(origin ? [sql<SqlBool>`files.is_copy = ${sql.lit(origin === 'own' ? 0 : 1)}`] : []),
    ...(fileTps ? [oneOf('files.file_tp', fileTps)] : []),
    ...(contentType === undefined ? [] : [hasType(contentType)]),
    ...(tags
      ? [
          sql<SqlBool>`exists (select 1 from file_tags where file_tags.tenant_id = files.tenant_id
            and file_tags.file_id = files.file_id and ${oneOf('file_tags.tag', tags)})`,
        ]
      : []),
  ]
}

/** What a place and a period leave of an index in the order of `takenOrCreated`. */
function rangeOf({ place, takenAfter, takenBefore }: FileFilter): Condition[] {
  return [
    ...(place === undefined ? [] : [isIn(place)]),
    ...(takenAfter === undefined ? [] : [sql<SqlBool>`${takenOrCreated} >= ${takenAfter}`]),
    ...(takenBefore === undefined ? [] : [sql<SqlBool>`${takenOrCreated} < ${takenBefore}`]),
  ]
}

/** NOTE: few are named with the tenant, since SQLite follows the order of an index else, past all other files. */
function isAmong({ tenantId }: Reader, fileIds: readonly string[] | undefined): Condition {
  const isOfTenant = sql<SqlBool>`files.tenant_id = ${tenantId}`
  if (!fileIds) return isOfTenant
  if (fileIds.length === 0 || fileIds.length > fewFiles)
    return sql<SqlBool>`(${isOfTenant} and ${oneOf('files.file_id', fileIds)})`
  const keys = fileIds.map((fileId) => sql`(cast(${tenantId} as bigint), ${fileId})`)
  return sql<SqlBool>`(files.tenant_id, files.file_id) in (values ${sql.join(keys)})`
}

/** NOTE: the conditions of the indexes stand here word for word. */
function hasStatus(names: AccessNames, { filter, withoutChanges }: Bounded<FilterRequest>): Condition {
  const { place, statuses } = filter
  if (place === 'trash') return sql<SqlBool>`files.status = 'D'`
  const live = statuses?.filter((status) => status !== 'D')
  const isOne = live ? oneOf('files.status', live) : sql`true`
  const isTrashed = inTrash('files', names)
  const isLive = sql<SqlBool>`(files.status <> 'D' and ${isOne} and ${withoutChanges ? sql`true` : sql`not ${isTrashed}`})`
  if (!statuses?.includes('D')) return isLive
  return live?.length === 0 ? isTrashed : sql<SqlBool>`(${isTrashed} or ${isLive})`
}

function oneOf(column: string, values: readonly string[]): Condition {
  if (values.length === 0) return sql<SqlBool>`false`
  return sql<SqlBool>`${sql.ref(column)} in (${sql.join(values)})`
}

/** What was deleted by itself lies in no folder; what went with its folder is still in it. */
function isIn(place: NonNullable<FileFilter['place']>): Condition {
  if (typeof place === 'object') return sql<SqlBool>`files.parent_id = ${place.parentId}`
  return sql<SqlBool>`files.parent_id is null`
}

function hasType(contentType: string): Condition {
  const begins = (text: string) => sql<SqlBool>`substr(files.content_type, 1, ${[...text].length}) = ${text}`
  if (contentType.endsWith('*')) return begins(contentType.slice(0, -1))
  return sql<SqlBool>`(files.content_type = ${contentType} or ${begins(`${contentType};`)})`
}
