import type { Migration, MigrationSchema } from '#infra/db/index.ts'

export const filesMigrations: readonly Migration[] = [
  {
    id: '0600_files',
    async up(schema) {
      await createFiles(schema)
      await createVariants(schema)
      await createStorage(schema)
    },
  },
  {
    id: '0610_file_lists',
    async up(schema) {
      await schema.createTable(
        'file_tags',
        { tenant_id: 'integer', tag: 'text', file_id: 'text' },
        {
          primaryKey: ['tenant_id', 'tag', 'file_id'],
          clustered: true,
          foreignKeys: [{ ...ofFile, onDelete: 'cascade' }],
        },
      )
      await schema.createIndex('file_tags_by_file', 'file_tags', ['tenant_id', 'file_id'])
      const index = (name: string, ...columns: string[]) =>
        schema.createIndex(`files_by_${name}`, 'files', ['tenant_id', ...columns, 'file_id'])
      await index('created', 'created_at')
      await index('modified', 'modified_at')
      await index('name', 'file_name')
      await index('parent', 'parent_id', 'created_at')
      await index('owner', 'owner_tag', 'created_at')
    },
  },
]

/** What lies in a folder, by its name and by its last change. */
export const folderListMigrations: readonly Migration[] = [
  {
    id: '0620_folder_lists',
    async up(schema) {
      const index = (name: string, column: string) =>
        schema.createIndex(name, 'files', ['tenant_id', 'parent_id', column, 'file_id'])
      await index('files_by_parent_name', 'file_name')
      await index('files_by_parent_modified', 'modified_at')
    },
  },
]

/** What came later to files that others share and uploads that others make. */
export const visitorFilesMigrations: readonly Migration[] = [
  {
    id: '0640_copy_ends',
    async up(schema) {
      await schema.addColumn('files', 'expires_at', 'integer null')
      await schema.createIndex('files_expiry', 'files', ['expires_at'], { where: 'expires_at is not null' })
    },
  },
  {
    id: '0650_reservers',
    up: (schema) => schema.addColumn('storage_reservations', 'creator_tag', 'text null'),
  },
]

/** The folders in a folder, which lists follow down from what is shared. */
export const sharedFolderMigrations: readonly Migration[] = [
  {
    id: '0660_folders_in_folders',
    async up(schema) {
      const index = (name: string, column: string) =>
        schema.createIndex(name, 'files', ['tenant_id', column], {
          where: `file_tp = 'FLDR' and ${column} is not null`,
        })
      await index('files_folders', 'parent_id')
      await index('files_folders_trashed', 'original_parent_id')
    },
  },
  {
    id: '0670_files_for_visitors',
    async up(schema) {
      const index = (name: string, column: string) =>
        schema.createIndex(name, 'files', ['tenant_id', column], { where: `${column} is not null` })
      await index('files_visible', 'visibility')
      await index('files_trashed_from', 'original_parent_id')
      await schema.dropIndex('files_folders_trashed')
    },
  },
]

/** For what is asked of files that are attached: the copies there are, and the narrowed
 * credential with which one was made. */
export const attachedByOwnerMigrations: readonly Migration[] = [
  {
    id: '1320_file_makers',
    async up(schema) {
      await schema.createIndex('files_copies', 'files', ['tenant_id', 'file_id'], { where: 'is_copy = 1' })
      await schema.addColumn('files', 'made_with', 'text null')
    },
  },
]

/** How long things last, and how what has ended is found. */
export const fileUpkeepMigrations: readonly Migration[] = [
  {
    id: '0680_reservation_holders',
    async up(schema) {
      await schema.addColumn('storage_reservations', 'holder', 'text null')
      const index = (name: string, column: string, where?: string) =>
        schema.createIndex(name, 'storage_reservations', [column], where === undefined ? {} : { where })
      await index('storage_reservations_holder', 'holder', 'holder is not null')
      await index('storage_reservations_expiry', 'expires_at')
    },
  },
]

const isLive = "status <> 'D'"
const isTrashed = "status = 'D'"

/** What is in the trash leaves the indexes that lists of other files are read through. */
export const trashMigrations: readonly Migration[] = [
  {
    id: '1610_trash_apart',
    async up(schema) {
      for (const [name, ...columns] of [
        ['created', 'created_at'],
        ['modified', 'modified_at'],
        ['name', 'file_name'],
        ['parent', 'parent_id', 'created_at'],
        ['parent_name', 'parent_id', 'file_name'],
        ['parent_modified', 'parent_id', 'modified_at'],
      ]) {
        await schema.dropIndex(`files_by_${name}`)
        const of = ['tenant_id', ...columns, 'file_id']
        await schema.createIndex(`files_by_${name}`, 'files', of, { where: isLive })
      }
      // By their ids, as other tables have what goes with them: what is removed together lies together.
      const inFolder = ['tenant_id', 'parent_id', 'file_id']
      await schema.createIndex('files_trashed', 'files', inFolder, { where: isTrashed })
      await schema.createIndex('files_trash_roots', 'files', ['tenant_id', 'created_at', 'file_id'], {
        where: `${isTrashed} and parent_id is null`,
      })
    },
  },
  { id: '1620_clustered_variants', up: clusterVariants },
  {
    id: '1630_folder_changes',
    async up(schema) {
      await schema.createTable(
        'folder_changes',
        {
          tenant_id: 'integer',
          folder_id: 'text',
          kind: 'text',
          parent_id: 'text null',
          started_at: 'integer',
        },
        { primaryKey: ['tenant_id', 'folder_id'], clustered: true },
      )
      await schema.addColumn('files', 'discarded_at', 'integer null')
      await schema.addColumn('files', 'discarded_by', 'text null')
      await schema.addColumn('files', 'discarded_ref', 'text null')
      await schema.createIndex('files_discarded', 'files', ['discarded_at'], {
        where: 'discarded_at is not null',
      })
      await schema.createIndex('files_discarded_folders', 'files', ['tenant_id', 'file_id'], {
        where: "discarded_at is not null and file_tp = 'FLDR'",
      })
    },
  },
]

/** Who held a link is told by who made it: the id of a reference is a credential. */
export const discardedByLinkMigrations: readonly Migration[] = [
  {
    id: '1640_discarded_by_link',
    async up(schema) {
      await schema.addColumn('files', 'discarded_by_link', 'boolean default 0')
      const dropped = 'alter table files drop column discarded_ref'
      await schema.run({ sqlite: dropped, postgres: dropped })
    },
  },
]

/** SQLite keeps the variants of a file in one place then, in the order of the files. */
async function clusterVariants(schema: MigrationSchema): Promise<void> {
  if (schema.dialect !== 'sqlite') return
  await createVariants(schema, { name: 'file_variants_by_file', clustered: true })
  await schema.run({
    sqlite: `insert into file_variants_by_file select tenant_id, file_id, variant, blob_hash, width, height, size, format
      from file_variants order by tenant_id, file_id, variant`,
    postgres: undefined,
  })
  await schema.dropTable('file_variants')
  await schema.run({
    sqlite: 'alter table file_variants_by_file rename to file_variants',
    postgres: undefined,
  })
}

const ofFile = {
  columns: ['tenant_id', 'file_id'],
  references: 'files',
  on: ['tenant_id', 'file_id'],
}

async function createFiles(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'files',
    {
      tenant_id: 'integer',
      file_id: 'text',
      file_tp: 'text',
      status: 'text',
      owner_tag: 'text',
      is_copy: 'boolean default 0',
      preset: 'text',
      file_name: 'text',
      content_type: 'text',
      size: 'integer',
      blob_hash: 'text null',
      salt: 'text null',
      parent_id: 'text null',
      visibility: 'text null',
      tags: 'json',
      processing_error: 'text null',
      created_at: 'integer',
      modified_at: 'integer',
      deleted_at: 'integer null',
      original_parent_id: 'text null',
    },
    { primaryKey: ['tenant_id', 'file_id'] },
  )
}

async function createVariants(
  schema: MigrationSchema,
  { name, clustered } = { name: 'file_variants', clustered: false },
): Promise<void> {
  await schema.createTable(
    name,
    {
      tenant_id: 'integer',
      file_id: 'text',
      variant: 'text',
      blob_hash: 'text',
      width: 'integer',
      height: 'integer',
      size: 'integer',
      format: 'text',
    },
    {
      primaryKey: ['tenant_id', 'file_id', 'variant'],
      clustered,
      foreignKeys: [{ ...ofFile, onDelete: 'cascade' }],
    },
  )
}

async function createStorage(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'blobs',
    {
      tenant_id: 'integer',
      blob_hash: 'text',
      size: 'integer',
      // Rows of `files` and of `file_variants` that name it.
      uses: 'integer',
      unused_since: 'integer null',
      is_leaving: 'boolean default 0',
    },
    { primaryKey: ['tenant_id', 'blob_hash'] },
  )
  await schema.createIndex('blobs_unused', 'blobs', ['tenant_id', 'unused_since'], {
    where: 'unused_since is not null',
  })
  await schema.createTable(
    'storage_usage',
    { tenant_id: 'integer', used_bytes: 'integer', files: 'integer' },
    { primaryKey: ['tenant_id'] },
  )
  await schema.createTable(
    'storage_reservations',
    { tenant_id: 'integer', reservation_id: 'text', bytes: 'integer', expires_at: 'integer' },
    { primaryKey: ['tenant_id', 'reservation_id'] },
  )
  // What is about to be used: between the moment in which bytes get their name and the row that names them.
  await schema.createTable(
    'blob_claims',
    { tenant_id: 'integer', blob_hash: 'text', reservation_id: 'text' },
    {
      primaryKey: ['tenant_id', 'blob_hash', 'reservation_id'],
      foreignKeys: [
        {
          columns: ['tenant_id', 'reservation_id'],
          references: 'storage_reservations',
          on: ['tenant_id', 'reservation_id'],
          onDelete: 'cascade',
        },
      ],
    },
  )
}
