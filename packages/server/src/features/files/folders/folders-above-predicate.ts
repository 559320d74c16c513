import { type Expression, type RawBuilder, sql } from 'kysely'

/** How a file is bound to a folder: it lies there, or lay there before it went into the trash by itself. */
export type FolderLink = 'lies' | 'lay'

/** `above`: a file with the folders above it. `source` says where its row comes from, when the statement has none. */
export function foldersAbove(
  file: string,
  { tenantId, link, source = sql`` }: FoldersAbove,
): RawBuilder<unknown> {
  const of = (row: string) =>
    sql`${sql.ref(`${row}.file_id`)}, ${folderAbove(row, link)}, ${sql.ref(`${row}.discarded_at`)}`
  return sql`above(file_id, folder_id, discarded_at) as (
    select ${of(file)} ${source}
    union
    select ${of('folder')} from above
    join files as folder on folder.tenant_id = ${tenantId} and folder.file_id = above.folder_id)`
}

interface FoldersAbove {
  readonly tenantId: Expression<number>
  readonly link: FolderLink
  readonly source?: RawBuilder<unknown>
}

/** The folder directly above a file, or null. */
export function folderAbove(file: string, link: FolderLink): RawBuilder<string | null> {
  const lies = sql<string | null>`${sql.ref(`${file}.parent_id`)}`
  return link === 'lies' ? lies : sql`coalesce(${lies}, ${sql.ref(`${file}.original_parent_id`)})`
}
