import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import { isOpened } from './collections/collection-sweep-store.ts'
import {
  fileDetailsMigrations,
  fileFoldingMigrations,
  fileTextMigrations,
  takenMigrations,
  thumbhashMigrations,
} from './file-details-migrations.ts'
import { fileOriginMigrations, storageKindsMigrations } from './storage-kinds-migrations.ts'

export const fileTableMigrations: readonly Migration[] = [
  {
    id: '0021_files',
    async up(schema) {
      await createFiles(schema)
      await createFileIndexes(schema)
      await createVariants(schema)
      await createTags(schema)
      await createFolderChanges(schema)
      await createBlobs(schema)
      await createReservations(schema)
      await createUploads(schema)
      await createShares(schema)
      await createShareBases(schema)
      await createCollections(schema)
    },
  },
]

export const filesMigrations: readonly Migration[] = [
  ...fileTableMigrations,
  ...fileDetailsMigrations,
  ...thumbhashMigrations,
  ...takenMigrations,
  ...storageKindsMigrations,
  ...fileOriginMigrations,
  ...fileFoldingMigrations,
  ...fileTextMigrations,
]

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
      // When a copy of what others share ends.
      expires_at: 'integer null',
      // The narrowed credential that it was made with.
      made_with: 'text null',
      discarded_at: 'integer null',
      discarded_by: 'text null',
      discarded_by_link: 'boolean default 0',
    },
    { primaryKey: ['tenant_id', 'file_id'] },
  )
}

const isLive = "status <> 'D'"
const isTrashed = "status = 'D'"

async function createFileIndexes(schema: MigrationSchema): Promise<void> {
  const index = (name: string, columns: string[], where: string) =>
    schema.createIndex(`files_${name}`, 'files', ['tenant_id', ...columns], { where })
  await schema.createIndex('files_by_owner', 'files', ['tenant_id', 'owner_tag', 'created_at', 'file_id'])
  await schema.createIndex('files_expiry', 'files', ['expires_at'], { where: 'expires_at is not null' })
  // The folders in a folder, which lists follow down from what is shared.
  await index('folders', ['parent_id'], "file_tp = 'FLDR' and parent_id is not null")
  await index('visible', ['visibility'], 'visibility is not null')
  await index('trashed_from', ['original_parent_id'], 'original_parent_id is not null')
  await index('copies', ['file_id'], 'is_copy = 1')
  // What is in the trash is not in the indexes that lists of other files are read through.
  await index('by_created', ['created_at', 'file_id'], isLive)
  await index('by_modified', ['modified_at', 'file_id'], isLive)
  await index('by_name', ['file_name', 'file_id'], isLive)
  await index('by_parent', ['parent_id', 'created_at', 'file_id'], isLive)
  await index('by_parent_name', ['parent_id', 'file_name', 'file_id'], isLive)
  await index('by_parent_modified', ['parent_id', 'modified_at', 'file_id'], isLive)
  // By their ids, as other tables have what goes with them: what is removed together lies together.
  await index('trashed', ['parent_id', 'file_id'], isTrashed)
  await index('trash_roots', ['created_at', 'file_id'], `${isTrashed} and parent_id is null`)
  await schema.createIndex('files_discarded', 'files', ['discarded_at'], {
    where: 'discarded_at is not null',
  })
  await index('discarded_folders', ['file_id'], "discarded_at is not null and file_tp = 'FLDR'")
}

const cascade = (columns: string[], references: string, on: string[]) =>
  ({ columns, references, on, onDelete: 'cascade' }) as const

const ofFile = (column: string) => cascade(['tenant_id', column], 'files', ['tenant_id', 'file_id'])

async function createVariants(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'file_variants',
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
    // The variants of a file stand in one place then, in the order of the files.
    {
      primaryKey: ['tenant_id', 'file_id', 'variant'],
      clustered: true,
      foreignKeys: [ofFile('file_id')],
    },
  )
}

async function createTags(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'file_tags',
    { tenant_id: 'integer', tag: 'text', file_id: 'text' },
    { primaryKey: ['tenant_id', 'tag', 'file_id'], clustered: true, foreignKeys: [ofFile('file_id')] },
  )
  await schema.createIndex('file_tags_by_file', 'file_tags', ['tenant_id', 'file_id'])
}

async function createFolderChanges(schema: MigrationSchema): Promise<void> {
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
}

async function createBlobs(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'blobs',
    {
      tenant_id: 'integer',
      blob_hash: 'text',
      size: 'integer',
      // Rows that name it: of `files`, `file_variants` and `installed_apps`.
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
}

async function createReservations(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'storage_reservations',
    {
      tenant_id: 'integer',
      reservation_id: 'text',
      bytes: 'integer',
      expires_at: 'integer',
      creator_tag: 'text null',
      holder: 'text null',
    },
    { primaryKey: ['tenant_id', 'reservation_id'] },
  )
  await schema.createIndex('storage_reservations_holder', 'storage_reservations', ['holder'], {
    where: 'holder is not null',
  })
  await schema.createIndex('storage_reservations_expiry', 'storage_reservations', ['expires_at'])
  // What is about to be used: between the moment in which bytes get their name and the row that names them.
  const reservation = ['tenant_id', 'reservation_id']
  await schema.createTable(
    'blob_claims',
    { tenant_id: 'integer', blob_hash: 'text', reservation_id: 'text' },
    {
      primaryKey: ['tenant_id', 'blob_hash', 'reservation_id'],
      foreignKeys: [cascade(reservation, 'storage_reservations', reservation)],
    },
  )
}

async function createUploads(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'uploads',
    {
      tenant_id: 'integer',
      upload_id: 'text',
      creator_tag: 'text',
      length: 'integer',
      metadata: 'text',
      reservation_id: 'text',
      upload_offset: 'integer',
      expires_at: 'integer',
      file_id: 'text null',
    },
    { primaryKey: ['tenant_id', 'upload_id'] },
  )
  await schema.createIndex('uploads_expiry', 'uploads', ['expires_at'])
}

async function createShares(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'shares',
    {
      share_id: 'autoincrement',
      tenant_id: 'integer',
      resource_id: 'text',
      subject_type: 'text',
      subject_id: 'text',
      permission: 'text',
      expires_at: 'integer null',
      created_by: 'text',
      created_at: 'integer',
      is_derived: 'boolean default 0',
      ref_hash: 'text null',
    },
    {
      unique: [['tenant_id', 'resource_id', 'subject_type', 'subject_id']],
      foreignKeys: [ofFile('resource_id')],
    },
  )
  const index = (name: string, columns: string[], where: string) =>
    schema.createIndex(`shares_${name}`, 'shares', columns, { where })
  await schema.createIndex('shares_by_subject', 'shares', ['tenant_id', 'subject_type', 'subject_id'])
  await index('derived', ['tenant_id', 'share_id'], 'is_derived = 1')
  await index('expiry', ['expires_at'], 'expires_at is not null')
  await schema.createIndex('shares_by_id', 'shares', ['tenant_id', 'share_id'], { unique: true })
  await index('in_doubt', ['tenant_id', 'is_derived', 'share_id'], 'is_derived > 1')
}

/** Which shares a share rests on, where whoever gave it had the file by shares. */
async function createShareBases(schema: MigrationSchema): Promise<void> {
  const share = ['tenant_id', 'share_id']
  await schema.createTable(
    'share_bases',
    { tenant_id: 'integer', share_id: 'integer', base_id: 'integer' },
    {
      primaryKey: ['tenant_id', 'share_id', 'base_id'],
      // None for the base: what rested on one that is gone is reviewed, and then its rows go, in portions.
      foreignKeys: [cascade(share, 'shares', share)],
      clustered: true,
    },
  )
  await schema.createIndex('share_bases_of', 'share_bases', ['tenant_id', 'base_id'])
}

async function createCollections(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'collection_items',
    { tenant_id: 'integer', id_tag: 'text', collection: 'text', item_id: 'text', added_at: 'integer' },
    { primaryKey: ['tenant_id', 'id_tag', 'collection', 'item_id'], clustered: true },
  )
  const byTime = ['tenant_id', 'id_tag', 'collection', 'added_at', 'item_id']
  await schema.createIndex('collection_items_by_time', 'collection_items', byTime)
  await schema.createIndex('collection_items_by_item', 'collection_items', ['tenant_id', 'item_id'])
  await schema.createIndex('collection_items_opened', 'collection_items', ['added_at'], { where: isOpened })
}
