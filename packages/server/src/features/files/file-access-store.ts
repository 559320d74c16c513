import type { FileId, IdTag } from '@kith/protocol'
import { type Expression, type SqlBool, sql } from 'kysely'
import {
  isLive,
  isReadableBy,
  type ReadableTables,
  type Viewer,
  viewerShape,
} from '#features/visibility/index.ts'
import { type Prepared, type Reader, statement } from '#infra/db/index.ts'
import type { StoredFile } from './file.ts'
import { type FileTable, type FileTables, toFile } from './file-store.ts'

type AccessTables = FileTables &
  ReadableTables & { action_attachments: { tenant_id: number; file_id: string; action_id: string } }

interface Asked {
  readonly tenantId: number
  readonly fileId: string
  readonly viewerTag: string
  readonly tenantTag: string
  readonly now: number
}
type AccessRow = FileTable & { is_public: number }

/** A file that somebody may read, and whether everybody may. */
export interface ReadableFile {
  readonly file: StoredFile
  readonly isPublic: boolean
}

// One statement for each shape of viewer; shapes are sets of six facts, so there are at most 64.
const byShape = new Map<string, Prepared<Asked, AccessRow>>()

/** The file, when it is not in the trash and the viewer may read it (DECISIONS part 12). */
export async function findReadableFile(
  reader: Reader,
  viewer: Viewer,
  asked: { readonly fileId: FileId; readonly now: number },
): Promise<ReadableFile | undefined> {
  const row = await reader.first(statementFor(viewer), {
    tenantId: reader.tenantId,
    fileId: asked.fileId,
    viewerTag: viewer.idTag ?? '',
    tenantTag: viewer.tenantTag,
    now: asked.now,
  })
  return row && { file: toFile(row), isPublic: row.is_public === 1 }
}

function statementFor(viewer: Viewer): Prepared<Asked, AccessRow> {
  const shape = `${viewer.idTag === undefined} ${viewerShape(viewer)}`
  const known = byShape.get(shape)
  if (known) return known
  const made = statement<AccessTables, Asked, AccessRow>((tables, value) => {
    const values = { viewerTag: value('viewerTag'), tenantTag: value('tenantTag'), now: value('now') }
    const everybody = isFileReadableBy({ ...viewer, idTag: undefined, facts: new Set() }, values)
    return tables
      .selectFrom('files')
      .selectAll('files')
      .select(sql<number>`case when ${everybody} then 1 else 0 end`.as('is_public'))
      .where('files.tenant_id', '=', value('tenantId'))
      .where('files.file_id', '=', value('fileId'))
      .where('files.status', '!=', 'D')
      .where(isFileReadableBy(viewer, values))
  })
  byShape.set(shape, made)
  return made
}

interface Names {
  readonly viewerTag: Expression<string>
  readonly tenantTag: Expression<string>
  readonly now: Expression<number>
}

/** Condition on rows of `files`: the tenant's own people read all, an owner their own; others what the file's
 * visibility gives them, and what is attached to an action that they may read. */
export function isFileReadableBy(viewer: Viewer, names: Names): Expression<SqlBool> {
  if (viewer.facts.has('acts-as-tenant')) return sql<SqlBool>`true`
  const codes = ['P', ...circlesOf(viewer)]
  const byVisibility = sql<SqlBool>`files.visibility in (${sql.join(codes.map((code) => sql.lit(code)))})`
  const byOwnership =
    viewer.idTag === undefined
      ? sql<SqlBool>`false`
      : sql<SqlBool>`(files.is_copy = 0 and files.owner_tag = ${names.viewerTag})`
  const byAction = sql<SqlBool>`exists (select 1 from action_attachments as attached
    join actions on actions.tenant_id = attached.tenant_id and actions.action_id = attached.action_id
    where attached.tenant_id = files.tenant_id and attached.file_id = files.file_id
    and ${isLive('actions', names.now)} and ${isReadableBy(viewer, 'actions', names)})`
  return sql<SqlBool>`(coalesce(${byVisibility}, false) or ${byOwnership} or ${byAction})`
}

function circlesOf({ facts }: Viewer): string[] {
  return [
    ...(facts.has('identified') ? ['V'] : []),
    ...(facts.has('follows') ? ['F'] : []),
    ...(facts.has('connected') ? ['C'] : []),
  ]
}

/** Which of these files of the tenant's own can be given to an audience, if somebody in particular owns them. */
export async function listAttachable(
  reader: Reader,
  fileIds: readonly FileId[],
  owner: IdTag | 'anybody',
): Promise<Set<string>> {
  if (fileIds.length === 0) return new Set()
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select('file_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', 'in', fileIds)
    .where('status', '!=', 'D')
    .where('is_copy', '=', 0)
    .$if(owner !== 'anybody', (query) => query.where('owner_tag', '=', owner))
    .execute()
  return new Set(rows.map((row) => row.file_id))
}
