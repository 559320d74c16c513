import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import { searchForm } from '#lib/search-form.ts'

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
      let last: FileKey | undefined = { tenant_id: 0, file_id: '' }
      while (last) last = await fillSearchNames(schema, last)
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

interface FileKey {
  readonly tenant_id: number
  readonly file_id: string
}
interface NamedTables {
  files: { tenant_id: number; file_id: string; file_name: string; search_name: string }
}

/** Answers the last file of the portion. */
async function fillSearchNames(schema: MigrationSchema, after: FileKey): Promise<FileKey | undefined> {
  const tables = schema.tables<NamedTables>()
  const rows = await tables
    .selectFrom('files')
    .select(['tenant_id', 'file_id', 'file_name'])
    .where((row) => row(row.refTuple('tenant_id', 'file_id'), '>', row.tuple(after.tenant_id, after.file_id)))
    .orderBy('tenant_id')
    .orderBy('file_id')
    .limit(1_000)
    .execute()
  for (const { tenant_id, file_id, file_name } of rows)
    await tables
      .updateTable('files')
      .set({ search_name: searchForm(file_name) })
      .where('tenant_id', '=', tenant_id)
      .where('file_id', '=', file_id)
      .execute()
  return rows.at(-1)
}
