import type { FileId, IdTag } from '@kith/protocol'
import { type Expression, type SqlBool, sql } from 'kysely'
import { viewerShape } from '#features/relations/index.ts'
import { type Prepared, type Reader, type ReadTables, statement } from '#infra/db/index.ts'
import type { StoredFile } from '../file.ts'
import { type FileTable, type FileTables, toFile } from '../file-store.ts'
import { isAnyChanging, isInTrash } from '../folders/folder-change-predicate.ts'
import {
  type AccessNames,
  type AccessTables,
  accessLevel,
  everybody,
  inTrash,
  isReadableFile,
} from './file-access-predicate.ts'
import { type FileLevel, type FileViewer, readLevel } from './file-viewer.ts'

type Asked = Readonly<{
  [Name in 'tenantId' | 'viewerTag' | 'tenantTag' | 'now']: string | number
}> & {
  readonly fileId: string
  readonly basesOf?: number | undefined
}
type AccessRow = FileTable & { level: number; public_level: number; is_in_trash: number; is_changing: number }

/** A file, and what somebody may do with it. */
export interface AccessibleFile {
  readonly file: StoredFile
  readonly level: FileLevel
  /** Everybody may read it. */
  readonly isPublic: boolean
}

interface AccessQuestion {
  readonly fileId: FileId
  /** Unix seconds. */
  readonly now: number
  /** As if there were only the shares on which this one rests; 0: none. */
  readonly basesOf?: number | undefined
}

// One statement for each shape of viewer; shapes are sets of six facts, with four widths of a token.
const byShape = new Map<string, Prepared<Asked, AccessRow>>()

/** The file, when the viewer may at least read it. `now`: Unix seconds. */
export async function findAccessibleFile(
  reader: Reader,
  who: FileViewer,
  { fileId, now, basesOf }: AccessQuestion,
): Promise<AccessibleFile | undefined> {
  const { viewer } = who
  const asked: Asked = {
    tenantId: reader.tenantId,
    viewerTag: viewer.idTag ?? '',
    tenantTag: viewer.tenantTag,
    now,
    fileId,
    basesOf,
  }
  const isOfShare = basesOf !== undefined
  const read = async (mode: Mode) =>
    hasKeys(who)
      ? await selectFile(
          who,
          (name) => sql`${asked[name]}`,
          mode,
        )(reader.tables<AccessTables>()).executeTakeFirst()
      : await reader.first(statementFor(who, mode), asked)
  // Folders that are being changed only ever hide what is in them, and hardly ever are there any.
  const without = await read({ isOfShare, withoutChanges: true })
  const row = without?.is_changing === 1 ? await read({ isOfShare }) : without
  if (!row || row.level < readLevel) return undefined
  return {
    file: toFile(row),
    level: row.level as FileLevel,
    isPublic: row.public_level >= readLevel,
  }
}

interface Mode {
  /** Only the shares count on which one rests. */
  readonly isOfShare: boolean
  readonly withoutChanges?: true
}

function hasKeys({ held, limits }: FileViewer): boolean {
  return held.length > 0 || (limits !== undefined && limits.single.length > 0)
}

function statementFor(who: FileViewer, mode: Mode): Prepared<Asked, AccessRow> {
  const { viewer, limits } = who
  const shape = `${viewer.idTag === undefined} ${limits?.everywhere ?? 'all'} ${viewerShape(viewer)} ${mode.isOfShare} ${mode.withoutChanges}`
  const known = byShape.get(shape)
  if (known) return known
  const made = statement<AccessTables, Asked, AccessRow>((tables, value) =>
    selectFile(who, value as Value, mode)(tables),
  )
  byShape.set(shape, made)
  return made
}

type Value = (name: keyof Asked) => Expression<never>

function selectFile(who: FileViewer, value: Value, { isOfShare, withoutChanges }: Mode) {
  const names: AccessNames = {
    tenantId: value('tenantId'),
    viewerTag: value('viewerTag'),
    tenantTag: value('tenantTag'),
    now: value('now'),
    ...(isOfShare && { basesOf: value('basesOf') }),
    ...(withoutChanges && { withoutChanges }),
  }
  return (tables: Pick<ReadTables<AccessTables>, 'selectFrom'>) =>
    tables
      .selectFrom('files')
      .selectAll('files')
      .select([
        numbered(isAnyChanging(names.tenantId)).as('is_changing'),
        numbered(inTrash('files', names)).as('is_in_trash'),
      ])
      .select(accessLevel(who, names).as('level'))
      .select(accessLevel(everybody(who.viewer), names).as('public_level'))
      .where('files.tenant_id', '=', value('tenantId'))
      .where('files.file_id', '=', value('fileId'))
}

function numbered(condition: Expression<unknown>) {
  return sql<number>`case when ${condition} then 1 else 0 end`
}

/** The names under which one-off queries know a viewer. */
export function accessNames(reader: Reader, { viewer }: FileViewer, now: number): AccessNames {
  return {
    tenantId: sql`${reader.tenantId}`,
    viewerTag: sql`${viewer.idTag ?? ''}`,
    tenantTag: sql`${viewer.tenantTag}`,
    now: sql`${now}`,
  }
}

// What every browser shows in an `<img>`.
const pictureTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif']

/** The names of those of these files that are pictures whose variants are made, and that the viewer may read. */
export async function listReadablePictures(
  reader: Reader,
  who: FileViewer,
  { fileIds, now }: { readonly fileIds: readonly FileId[]; readonly now: number },
): Promise<ReadonlyMap<string, string>> {
  const rows = await reader
    .tables<AccessTables>()
    .selectFrom('files')
    .select(['files.file_id', 'files.file_name'])
    .where('files.tenant_id', '=', reader.tenantId)
    .where('files.file_id', 'in', fileIds)
    .where('files.status', '=', 'A')
    .where('files.content_type', 'in', pictureTypes)
    // Of these nothing was made that has no metadata (docs/protocol/file-life.md, Originals).
    .where('files.processing_error', 'is', null)
    .where('files.preset', '!=', 'raw')
    .where(isReadableFile(who, accessNames(reader, who, now)))
    .execute()
  return new Map(rows.map(({ file_id, file_name }) => [file_id, file_name]))
}

/** Which of these files of the tenant's own can be given to an audience, if somebody in particular owns them or they were
 * made with a certain credential, which says nothing of other files that are shared with the readers of these. */
export async function listAttachable(
  reader: Reader,
  fileIds: readonly FileId[],
  {
    owner,
    madeWith,
    isTrashed = false,
  }: {
    readonly owner: IdTag | 'anybody'
    readonly madeWith: string | 'anything'
    readonly isTrashed?: boolean | undefined
  },
): Promise<Set<string>> {
  if (fileIds.length === 0) return new Set()
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select('file_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', 'in', fileIds)
    .where((row) => {
      const inTrash = isInTrash('files', sql`${reader.tenantId}`)
      return isTrashed ? inTrash : row.not(inTrash)
    })
    .where('is_copy', '=', 0)
    .$if(owner !== 'anybody', (query) => query.where('owner_tag', '=', owner))
    .$if(madeWith !== 'anything', (query) =>
      query.where('made_with', '=', madeWith).where((row) => row.not(hasGiftsToReaders('files'))),
    )
    .execute()
  return new Set(rows.map((row) => row.file_id))
}

/** Something is shared with the readers of it. */
function hasGiftsToReaders(file: string) {
  return sql<SqlBool>`exists (select 1 from shares as given where given.tenant_id = ${sql.ref(`${file}.tenant_id`)}
    and given.subject_type = 'F' and given.subject_id = ${sql.ref(`${file}.file_id`)})`
}

/** Is any of these shared with somebody? `now`: Unix seconds. */
export async function hasShares(reader: Reader, fileIds: readonly string[], now: number): Promise<boolean> {
  if (fileIds.length === 0) return false
  const row = await reader
    .tables<AccessTables>()
    .selectFrom('shares')
    .select('resource_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('resource_id', 'in', fileIds)
    .where((share) => share.or([share('expires_at', 'is', null), share('expires_at', '>', now)]))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
