import { foldText, respellFileName } from '@kith/protocol'
import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import { respeltTags } from './file.ts'
import { nameColumns } from './file-store.ts'
import { createOriginIndexes } from './storage-kinds-migrations.ts'

/** What is known of pictures, and names as searches compare them. */
export const fileDetailsMigrations: readonly Migration[] = [
  {
    id: '0038_file_details',
    async up(schema) {
      await schema.addColumn('files', 'width', 'integer null')
      await schema.addColumn('files', 'height', 'integer null')
      await schema.addColumn('files', 'taken_at', 'integer null')
      await schema.addColumn('files', 'search_name', "text default ''")
      const fillSizes = `update files set width = original.width, height = original.height
        from file_variants as original where original.tenant_id = files.tenant_id
        and original.file_id = files.file_id and original.variant = 'orig'`
      await schema.run({ sqlite: fillSizes, postgres: fillSizes })
      await eachFile(schema, (row) => setColumns(schema, row, { search_name: foldText(row.file_name) }))
      // Holds all that a search compares: the rows themselves are not read. Its condition keeps other statements from it.
      await schema.createIndex('files_by_search_name', 'files', ['tenant_id', 'search_name', 'file_id'], {
        where: "search_name <> ''",
      })
    },
  },
]

/** ThumbHashes of pictures; those that were read before have none. */
export const thumbhashMigrations: readonly Migration[] = [
  { id: '0039_thumbhash', up: (schema) => schema.addColumn('files', 'thumbhash', 'text null') },
]

/** Files by when they were taken, or created where that is not known. */
export const takenMigrations: readonly Migration[] = [
  {
    id: '0041_files_by_taken',
    async up(schema) {
      // The text of `takenOrCreated`, and the condition under which lists leave out the trash.
      const order = ['coalesce(taken_at, created_at)', 'file_id']
      const where = "status <> 'D'"
      await schema.createIndex('files_by_taken', 'files', ['tenant_id', ...order], { where })
      await schema.createIndex('files_by_parent_taken', 'files', ['tenant_id', 'parent_id', ...order], {
        where,
      })
    },
  },
]

/** Whether the bytes of a file are text in UTF-8; of older ones it is noted when they are read. */
export const fileTextMigrations: readonly Migration[] = [
  { id: '0064_file_text', up: (schema) => schema.addColumn('files', 'is_utf8', 'integer null') },
]

/** Names are searched and sorted by another form from now on; a name and a tag that are spelt in two ways are one, and a
 * name has nothing that nobody sees. */
export const fileFoldingMigrations: readonly Migration[] = [
  {
    id: '0060_file_folding',
    async up(schema) {
      await schema.addColumn('files', 'sort_name', "text default ''")
      await eachFile(schema, (row) => respell(schema, row))
      const where = "status <> 'D'"
      for (const [name, ...columns] of [['by_name'], ['by_parent_name', 'parent_id']]) {
        await schema.dropIndex(`files_${name}`)
        const order = ['tenant_id', ...columns, 'sort_name', 'file_id']
        await schema.createIndex(`files_${name}`, 'files', order, { where })
      }
      // Of indexes that serve alike SQLite takes the newest.
      for (const name of ['own', 'received']) await schema.dropIndex(`files_${name}`)
      await createOriginIndexes(schema)
    },
  },
]

interface FileKey {
  readonly tenant_id: number
  readonly file_id: string
}
type FileRow = FileKey & { file_name: string; search_name: string; tags: string }
interface FoldedTables {
  files: FileRow & { sort_name: string }
  file_tags: FileKey & { tag: string }
}

async function eachFile(schema: MigrationSchema, change: (row: FileRow) => Promise<void>): Promise<void> {
  for (let last: FileKey | undefined = { tenant_id: 0, file_id: '' }; last; ) {
    const after: FileKey = last
    const rows = await schema
      .tables<FoldedTables>()
      .selectFrom('files')
      .select(['tenant_id', 'file_id', 'file_name', 'search_name', 'tags'])
      .where((row) =>
        row(row.refTuple('tenant_id', 'file_id'), '>', row.tuple(after.tenant_id, after.file_id)),
      )
      .orderBy('tenant_id')
      .orderBy('file_id')
      .limit(1_000)
      .execute()
    for (const row of rows) await change(row)
    last = rows.at(-1)
  }
}

async function setColumns(
  schema: MigrationSchema,
  { tenant_id, file_id }: FileKey,
  columns: Partial<FoldedTables['files']>,
): Promise<void> {
  await schema
    .tables<FoldedTables>()
    .updateTable('files')
    .set(columns)
    .where('tenant_id', '=', tenant_id)
    .where('file_id', '=', file_id)
    .execute()
}

async function respell(schema: MigrationSchema, row: FileRow): Promise<void> {
  const tags = respeltTags(parsed(row.tags))
  const names = nameColumns(respellFileName(row.file_name, row.file_id))
  await setColumns(schema, row, { ...names, tags: JSON.stringify(tags) })
  if (JSON.stringify(tags) !== row.tags) await replaceTags(schema, row, tags)
}

/** An archive that was imported once may have left anything. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

async function replaceTags(
  schema: MigrationSchema,
  { tenant_id, file_id }: FileKey,
  tags: readonly string[],
): Promise<void> {
  const tables = schema.tables<FoldedTables>()
  await tables
    .deleteFrom('file_tags')
    .where('tenant_id', '=', tenant_id)
    .where('file_id', '=', file_id)
    .execute()
  const rows = tags.map((tag) => ({ tenant_id, file_id, tag }))
  if (rows.length > 0) await tables.insertInto('file_tags').values(rows).execute()
}
