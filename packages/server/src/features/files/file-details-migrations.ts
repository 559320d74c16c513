import { foldText } from '@kith/protocol'
import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import { respeltTags } from './file.ts'

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
      await fillSearchNames(schema)
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

/** Names are searched by another form from now on, and tags that are spelt in two ways are one. */
export const fileFoldingMigrations: readonly Migration[] = [
  {
    id: '0060_file_folding',
    async up(schema) {
      await fillSearchNames(schema)
      await eachFile(schema, 'tags', (row) => respellTags(schema, row))
    },
  },
]

interface FileKey {
  readonly tenant_id: number
  readonly file_id: string
}
type FileRow = FileKey & { file_name: string; search_name: string; tags: string }
interface FoldedTables {
  files: FileRow
  file_tags: FileKey & { tag: string }
}

async function eachFile(
  schema: MigrationSchema,
  column: 'file_name' | 'tags',
  change: (row: FileRow) => Promise<void>,
): Promise<void> {
  for (let last: FileKey | undefined = { tenant_id: 0, file_id: '' }; last; ) {
    const after: FileKey = last
    const rows = await schema
      .tables<FoldedTables>()
      .selectFrom('files')
      .select(['tenant_id', 'file_id', 'file_name', 'search_name', 'tags'])
      .where((row) =>
        row(row.refTuple('tenant_id', 'file_id'), '>', row.tuple(after.tenant_id, after.file_id)),
      )
      .where(column, 'not in', ['', '[]'])
      .orderBy('tenant_id')
      .orderBy('file_id')
      .limit(1_000)
      .execute()
    for (const row of rows) await change(row)
    last = rows.at(-1)
  }
}

async function fillSearchNames(schema: MigrationSchema): Promise<void> {
  await eachFile(schema, 'file_name', async ({ tenant_id, file_id, file_name, search_name: former }) => {
    const search_name = foldText(file_name)
    if (search_name === former) return
    await schema
      .tables<FoldedTables>()
      .updateTable('files')
      .set({ search_name })
      .where('tenant_id', '=', tenant_id)
      .where('file_id', '=', file_id)
      .execute()
  })
}

async function respellTags(
  schema: MigrationSchema,
  { tenant_id, file_id, tags: former }: FileRow,
): Promise<void> {
  const tables = schema.tables<FoldedTables>()
  const tags = respeltTags(JSON.parse(former) as string[])
  if (JSON.stringify(tags) === former) return
  await tables
    .updateTable('files')
    .set({ tags: JSON.stringify(tags) })
    .where('tenant_id', '=', tenant_id)
    .where('file_id', '=', file_id)
    .execute()
  await tables
    .deleteFrom('file_tags')
    .where('tenant_id', '=', tenant_id)
    .where('file_id', '=', file_id)
    .execute()
  const rows = tags.map((tag) => ({ tenant_id, file_id, tag }))
  if (rows.length > 0) await tables.insertInto('file_tags').values(rows).execute()
}
