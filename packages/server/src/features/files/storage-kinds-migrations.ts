import type { Migration, MigrationSchema } from '#infra/db/index.ts'

const kinds = {
  picture_bytes: 'pictures',
  film_bytes: 'films',
  sound_bytes: 'sounds',
  document_bytes: 'documents',
  database_bytes: 'databases',
  preview_bytes: 'previews',
}

/** Adds the kind of each blob, the bytes of each kind to `storage_usage`, and indexes for the size of the trash and for files
 * ordered by size. */
export const storageKindsMigrations: readonly Migration[] = [
  {
    id: '0042_storage_kinds',
    async up(schema) {
      await schema.addColumn('blobs', 'kind', "text default 'others'")
      for (const column of Object.keys(kinds))
        await schema.addColumn('storage_usage', column, 'integer default 0')
      await nameBlobs(schema)
      await sumKinds(schema)
      // Holds what its condition says too: SQLite would read the rows else.
      const taken = ['status', 'file_tp', 'is_copy', 'blob_hash', 'size']
      await schema.createIndex('files_trash_sizes', 'files', ['tenant_id', ...taken], {
        where: "status = 'D' and file_tp <> 'FLDR' and (blob_hash is not null or is_copy = 0)",
      })
      await schema.createIndex('files_by_size', 'files', ['tenant_id', 'size', 'file_id'], {
        where: "status <> 'D'",
      })
    },
  },
]

/** Sets the kind of each blob as `kindOfBytes` does. A blob that is both a file and a variant gets the kind of the file. */
async function nameBlobs(schema: MigrationSchema): Promise<void> {
  const previews = `update blobs set kind = 'previews' from file_variants as named
    where named.tenant_id = blobs.tenant_id and named.blob_hash = blobs.blob_hash`
  await schema.run({ sqlite: previews, postgres: previews })
  const office = ['pdf', 'rtf', 'msword', 'epub+zip', 'vnd.ms-%', 'vnd.oasis.opendocument%']
  const documents = [...office, 'vnd.openxmlformats%'].map(
    (type) => `named.content_type like 'application/${type}${type.endsWith('%') ? '' : '%'}'`,
  )
  const files = `update blobs set kind = case when named.content_type like 'image/%' then 'pictures'
      when named.content_type like 'video/%' then 'films' when named.content_type like 'audio/%' then 'sounds'
      when named.content_type like 'text/%' or ${documents.join(' or ')} then 'documents' else 'others' end
    from files as named where named.tenant_id = blobs.tenant_id and named.blob_hash = blobs.blob_hash`
  await schema.run({ sqlite: files, postgres: files })
}

async function sumKinds(schema: MigrationSchema): Promise<void> {
  const sums = Object.entries(kinds).map(([column, kind]) => {
    const ofBlobs = `(select sum(size) from blobs
      where blobs.tenant_id = storage_usage.tenant_id and uses > 0 and kind = '${kind}')`
    return `${column} = coalesce(${ofBlobs}, 0)${contentOf(kind)}`
  })
  const fill = `update storage_usage set ${sums.join(', ')}`
  await schema.run({ sqlite: fill, postgres: fill })
}

/** The content of documents and databases has no blob: its size stands in `files.size`. */
function contentOf(kind: string): string {
  const fileTp = { documents: 'CRDT', databases: 'RTDB' }[kind]
  if (fileTp === undefined) return ''
  return ` + coalesce((select sum(size) from files where files.tenant_id = storage_usage.tenant_id
    and file_tp = '${fileTp}' and is_copy = 0), 0)`
}

/** One's own files in each folder, and those of others: lists of the one find them among many of the other. */
export const fileOriginMigrations: readonly Migration[] = [
  {
    id: '0043_file_origins',
    up: createOriginIndexes,
  },
]

export async function createOriginIndexes(schema: MigrationSchema): Promise<void> {
  const place = ['tenant_id', 'parent_id', 'file_id']
  await schema.createIndex('files_own', 'files', place, { where: "is_copy = 0 and status <> 'D'" })
  await schema.createIndex('files_received', 'files', place, { where: "is_copy = 1 and status <> 'D'" })
}
