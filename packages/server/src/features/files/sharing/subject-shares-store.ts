import type { CursorPage, IdTag, OffsetPage, ShareSubject } from '@kith/protocol'
import { type Selectable, type SqlBool, sql } from 'kysely'
import { keysetPage, type Reader } from '#infra/db/index.ts'
import { type AccessTables, accessLevel, doubtMarks } from '../access/file-access-predicate.ts'
import { accessNames } from '../access/file-access-store.ts'
import { type FileViewer, writeLevel } from '../access/file-viewer.ts'
import type { Share } from './share.ts'
import { type ShareTable, toShare } from './share-store.ts'

interface SubjectListing {
  readonly who: FileViewer
  readonly subjectId: string
  /** The identity that the subject is, if it is one. */
  readonly idTag: IdTag | undefined
  readonly subjectType: ShareSubject | undefined
  /** Unix seconds. */
  readonly now: number
  readonly limit: number
}

/** The shares of a subject that the viewer may know of: those given to itself, and those of files it may write; in the
 * order in which they were made. */
export async function listSharesTo(
  reader: Reader,
  { cursor, ...listing }: SubjectListing & { readonly cursor: string | undefined },
): Promise<CursorPage<Share>> {
  const id = sql.ref<number>('given.share_id')
  const order = { sort: 'made', column: id, kind: 'integer', idColumn: id, idKind: 'integer' } as const
  const { limit } = listing
  const rows = known(reader, listing).selectAll('given')
  const page = await keysetPage(rows, order, { direction: 'asc', cursor, limit })
  return { ...page, items: page.items.map(shareOf) }
}

/** The same by number, with how many there are. */
export async function listSharesToFrom(
  reader: Reader,
  { offset, ...listing }: SubjectListing & { readonly offset: number },
): Promise<OffsetPage<Share>> {
  const { limit } = listing
  const rows = await known(reader, listing)
    .selectAll('given')
    .orderBy(sql`given.share_id`)
    .limit(limit)
    .offset(offset)
    .execute()
  const { total } = await known(reader, listing)
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { items: rows.map(shareOf), total: Number(total), offset, limit }
}

function known(reader: Reader, { who, subjectId, idTag, subjectType, now }: SubjectListing) {
  const names = accessNames(reader, who, now)
  const isOwn = sql<SqlBool>`(given.subject_type = 'U' and given.subject_id = ${who.viewer.idTag ?? ''})`
  const isIdentity = sql<SqlBool>`(given.subject_type = 'U' and given.subject_id = ${idTag ?? subjectId})`
  const query = reader
    .tables<AccessTables & { given: ShareTable }>()
    .selectFrom('shares as given')
    .innerJoin('files', (join) =>
      join.onRef('files.tenant_id', '=', 'given.tenant_id').onRef('files.file_id', '=', 'given.resource_id'),
    )
    .where('given.tenant_id', '=', reader.tenantId)
    .where(sql<SqlBool>`(${isIdentity} or (given.subject_type <> 'U' and given.subject_id = ${subjectId}))`)
    .where(sql<SqlBool>`(given.expires_at is null or given.expires_at > ${now})`)
    .where('given.is_derived', '<', doubtMarks.waiting)
    .where(sql<SqlBool>`files.status <> 'D'`)
    .where(sql<SqlBool>`(${isOwn} or ${accessLevel(who, names)} >= ${sql.lit(writeLevel)})`)
  return subjectType === undefined ? query : query.where('given.subject_type', '=', subjectType)
}

function shareOf(row: unknown): Share {
  return toShare(row as Selectable<ShareTable>)
}
