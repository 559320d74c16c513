import {
  type FileId,
  type FileStatus,
  type FileType,
  foldText,
  type IdTag,
  parseFileId,
  type UploadPreset,
  type Visibility,
} from '@kith/protocol'
import type { BlobHash } from '#infra/blobs/index.ts'
import { type Reader, statement, type Writer } from '#infra/db/index.ts'
import type { Commitment, NewFile, PictureDetails, StoredFile, StoredVariant } from './file.ts'
import { sortNameOf } from './sort-name.ts'

export interface FileTable {
  tenant_id: number
  file_id: string
  file_tp: string
  status: string
  owner_tag: string
  is_copy: number
  preset: string
  file_name: string
  content_type: string
  size: number
  blob_hash: string | null
  salt: string | null
  parent_id: string | null
  visibility: string | null
  tags: string
  processing_error: string | null
  created_at: number
  modified_at: number
  deleted_at: number | null
  original_parent_id: string | null
  expires_at: number | null
  made_with: string | null
  discarded_at: number | null
  discarded_by: string | null
  discarded_by_link: number
  width: number | null
  height: number | null
  taken_at: number | null
  thumbhash: string | null
  search_name: string
  sort_name: string
  is_utf8: number | null
}
interface VariantTable {
  tenant_id: number
  file_id: string
  variant: string
  blob_hash: string
  width: number
  height: number
  size: number
  format: string
}
export interface FileTables {
  files: FileTable
  file_variants: VariantTable
  file_tags: { tenant_id: number; tag: string; file_id: string }
}

const selectFile = statement<FileTables, { tenantId: number; fileId: string }, FileTable>((tables, value) =>
  tables
    .selectFrom('files')
    .selectAll()
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId')),
)

const selectVariants = statement<FileTables, { tenantId: number; fileId: string }, VariantTable>(
  (tables, value) =>
    tables
      .selectFrom('file_variants')
      .selectAll()
      .where('tenant_id', '=', value('tenantId'))
      .where('file_id', '=', value('fileId'))
      .orderBy('width')
      .orderBy('size'),
)

/** The likeness of a picture, by what names it elsewhere; undefined where it is none, or was not read yet. */
export async function findThumbhash(reader: Reader, named: string): Promise<string | undefined> {
  const fileId = parseFileId(named)
  return fileId && (await findFile(reader, fileId))?.picture?.thumbhash
}

/** The file as it is stored, whoever asks: access is decided by `findReadableFile`. */
export async function findFile(reader: Reader, fileId: FileId): Promise<StoredFile | undefined> {
  const row = await reader.first(selectFile, { tenantId: reader.tenantId, fileId })
  return row && toFile(row)
}

/** Those of the files that the tenant knows of, whatever has become of them. */
export async function listKnown(reader: Reader, fileIds: readonly FileId[]): Promise<FileId[]> {
  if (fileIds.length === 0) return []
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select('file_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', 'in', fileIds)
    .execute()
  return rows.map((row) => row.file_id as FileId)
}

/** Smallest first. */
export async function listVariants(reader: Reader, fileId: FileId): Promise<StoredVariant[]> {
  const rows = await reader.run(selectVariants, { tenantId: reader.tenantId, fileId })
  return rows.map((row) => ({
    variant: row.variant as StoredVariant['variant'],
    blobHash: row.blob_hash as BlobHash,
    width: row.width,
    height: row.height,
    size: row.size,
    format: row.format,
  }))
}

/** False when the tenant has a file with this id already. */
export async function insertFile(tx: Writer, file: NewFile): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .tables<FileTables>()
    .insertInto('files')
    .values({ tenant_id: tx.tenantId, ...toRow(file) })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'file_id']).doNothing())
    .executeTakeFirstOrThrow()
  if (Number(numInsertedOrUpdatedRows) !== 1) return false
  await putTags(tx, file.fileId, file.tags)
  return true
}

/** Replaces the rows by which files are found by their tags. */
export async function putTags(tx: Writer, fileId: FileId, tags: readonly string[]): Promise<void> {
  const tables = tx.tables<FileTables>()
  await tables
    .deleteFrom('file_tags')
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .execute()
  if (tags.length === 0) return
  await tables
    .insertInto('file_tags')
    .values(tags.map((tag) => ({ tenant_id: tx.tenantId, tag, file_id: fileId })))
    .execute()
}

/** Gives its content, or its size where that is not fetched yet, to a copy of the same owner's that was only known of. False when it
 * has one, or is gone. */
export async function fillFile(tx: Writer, file: NewFile): Promise<boolean> {
  const { content_type, size, blob_hash, salt, status, is_utf8 } = toRow(file)
  const { numUpdatedRows } = await tx
    .tables<FileTables>()
    .updateTable('files')
    .set({ content_type, size, blob_hash, salt, status, is_utf8 })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', file.fileId)
    .where('owner_tag', '=', file.ownerTag)
    .where('blob_hash', 'is', null)
    .where('is_copy', '=', 1)
    .where('status', '!=', 'D')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function insertVariants(
  tx: Writer,
  fileId: FileId,
  variants: readonly StoredVariant[],
): Promise<void> {
  if (variants.length === 0) return
  await tx
    .tables<FileTables>()
    .insertInto('file_variants')
    .values(
      variants.map(({ blobHash, ...variant }) => ({
        tenant_id: tx.tenantId,
        file_id: fileId,
        blob_hash: blobHash,
        ...variant,
      })),
    )
    .execute()
}

export interface FileChange {
  readonly fileName?: string
  readonly tags?: readonly string[]
  readonly parentId?: FileId | null
  readonly visibility?: Visibility
}

export async function updateFile(
  tx: Writer,
  fileId: FileId,
  change: FileChange & { readonly modifiedAt: number },
): Promise<void> {
  const { fileName, tags, parentId, visibility, modifiedAt } = change
  await tx
    .tables<FileTables>()
    .updateTable('files')
    .set({
      modified_at: modifiedAt,
      ...(fileName === undefined ? {} : nameColumns(fileName)),
      ...(tags && { tags: JSON.stringify(tags) }),
      ...(parentId === undefined ? {} : { parent_id: parentId }),
      ...(visibility === undefined ? {} : { visibility }),
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .execute()
}

/** Moves a file on from one of the statuses `from`; false when it is in none of them. */
export async function changeStatus(
  tx: Writer,
  fileId: FileId,
  change: {
    readonly from: readonly FileStatus[]
    readonly to: FileStatus
    readonly processingError?: string
    readonly picture?: PictureDetails
  },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .tables<FileTables>()
    .updateTable('files')
    .set({
      status: change.to,
      ...(change.processingError === undefined ? {} : { processing_error: change.processingError }),
      ...(change.picture && pictureColumns(change.picture)),
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .where('status', 'in', change.from)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** With `is_in_trash` where it is known what becomes of the folders above. */
export function toFile(row: FileTable & { readonly is_in_trash?: number }): StoredFile {
  return {
    fileId: row.file_id as FileId,
    fileTp: row.file_tp as FileType,
    status: row.is_in_trash === 1 ? 'D' : (row.status as FileStatus),
    ownerTag: row.owner_tag as IdTag,
    isCopy: row.is_copy === 1,
    preset: row.preset as UploadPreset,
    fileName: row.file_name,
    contentType: row.content_type,
    size: row.size,
    content: contentOf(row),
    parentId: (row.parent_id ?? undefined) as FileId | undefined,
    visibility: row.visibility as Visibility,
    tags: JSON.parse(row.tags) as string[],
    processingError: row.processing_error ?? undefined,
    picture: pictureOf(row),
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
    deletedAt: row.deleted_at ?? undefined,
    originalParentId: (row.original_parent_id ?? undefined) as FileId | undefined,
    expiresAt: row.expires_at ?? undefined,
    discarded: discardedOf(row),
    isUtf8: row.is_utf8 === null ? undefined : row.is_utf8 === 1,
  }
}

function discardedOf({ discarded_at, discarded_by, discarded_by_link }: FileTable): StoredFile['discarded'] {
  if (discarded_at === null) return undefined
  return {
    by: (discarded_by ?? undefined) as IdTag | undefined,
    isByLink: discarded_by_link === 1,
  }
}

type PictureColumns = Pick<FileTable, 'width' | 'height' | 'taken_at' | 'thumbhash'>

function pictureOf({ width, height, taken_at, thumbhash }: PictureColumns): PictureDetails | undefined {
  if (width === null || height === null) return undefined
  return { width, height, takenAt: taken_at ?? undefined, thumbhash: thumbhash ?? undefined }
}

function pictureColumns(picture: PictureDetails | undefined): PictureColumns {
  const { width = null, height = null, takenAt = null, thumbhash = null } = picture ?? {}
  return { width, height, taken_at: takenAt, thumbhash }
}

function contentOf({ blob_hash: hash, salt }: FileTable): Commitment | undefined {
  return hash === null || salt === null ? undefined : { hash: hash as BlobHash, salt }
}

function toRow(file: NewFile): Omit<FileTable, 'tenant_id'> {
  return {
    file_id: file.fileId,
    file_tp: file.fileTp,
    status: file.status,
    owner_tag: file.ownerTag,
    is_copy: Number(file.isCopy),
    preset: file.preset,
    content_type: file.contentType,
    size: file.size,
    blob_hash: file.content?.hash ?? null,
    salt: file.content?.salt ?? null,
    parent_id: file.parentId ?? null,
    visibility: file.visibility,
    tags: JSON.stringify(file.tags),
    processing_error: file.processingError ?? null,
    created_at: file.createdAt,
    modified_at: file.modifiedAt,
    deleted_at: null,
    original_parent_id: null,
    expires_at: file.expiresAt ?? null,
    made_with: file.madeWith ?? null,
    discarded_at: null,
    discarded_by: null,
    discarded_by_link: 0,
    is_utf8: file.isUtf8 === undefined ? null : Number(file.isUtf8),
    ...pictureColumns(file.picture),
    ...nameColumns(file.fileName),
  }
}

/** A name, and what it is searched and sorted by. */
export function nameColumns(fileName: string): Pick<FileTable, 'file_name' | 'search_name' | 'sort_name'> {
  return { file_name: fileName, search_name: foldText(fileName), sort_name: sortNameOf(fileName) }
}
