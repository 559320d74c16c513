import {
  fileStatuses,
  fileTypeOf,
  maxWorldTime,
  minWorldTime,
  parseFileId,
  parseIdTag,
  respellFileName,
  storageKinds,
} from '@kith/protocol'
import { isBlobHash } from '#infra/blobs/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import {
  jsonIn,
  numberIn,
  optionalTextIn,
  type Reader,
  type TenantRow,
  textIn,
  type Writer,
} from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { invalid } from '#lib/failure.ts'
import { blobFileId, respeltTags } from './file.ts'
import { makeVariantsJob } from './file-jobs.ts'
import { type FileTables, nameColumns } from './file-store.ts'
import { addTag } from './file-tags-store.ts'
import { maxDepth } from './folders/file-tree-store.ts'

/** Fails with `E-VALIDATION` for a file of an archive whose id stands for other bytes: nobody can put other bytes
 * behind an id. */
function assertMovedFile(row: TenantRow): void {
  const fileId = parseFileId(textIn(row, 'file_id'))
  const fileTp = fileId && fileTypeOf(fileId)
  if (!fileId || fileTp !== row.file_tp) throw invalid('/file_id', 'is no file')
  const hash = optionalTextIn(row, 'blob_hash')
  if (hash !== undefined) {
    const salt = textIn(row, 'salt')
    if (!isBlobHash(hash) || fileTp !== 'BLOB' || blobFileId({ hash, salt }) !== fileId)
      throw invalid('/blob_hash', `is not what ${fileId} stands for`)
  }
  if (numberIn(row, 'size') > largestBytes) throw invalid('/size', 'is too large')
  if (!fileStatuses.some((status) => status === row.status))
    throw invalid('/status', 'is no status of a file')
  for (const name of ['created_at', 'taken_at']) {
    const time = row[name] ?? 0
    if (typeof time !== 'number' || time < minWorldTime || time > maxWorldTime)
      throw invalid(`/${name}`, 'is no time')
  }
  if (!parseIdTag(textIn(row, 'owner_tag'))) throw invalid('/owner_tag', 'is no identity')
  if (row.is_copy !== 1 && (row.expires_at ?? null) !== null) throw invalid('/expires_at', 'is for copies')
}

/** The row of a file of an archive. A person has all of its files but copies, whoever has put them there; what members
 * have at a community is the community's word. Copies are nobody's to show. */
export function takeMovedFile(row: TenantRow, { idTag, type }: Tenant): TenantRow {
  assertMovedFile(row)
  const name = respellFileName(textIn(row, 'file_name'), textIn(row, 'file_id'))
  const tags = JSON.stringify(respeltTags(jsonIn(row, 'tags')))
  const taken = { ...row, ...nameColumns(name), tags }
  if (row.is_copy === 1) return { ...taken, visibility: null }
  return type === 'person' ? { ...taken, owner_tag: idTag } : taken
}

/** Writes a row of an archive by which a file is found by a tag. */
export async function putMovedTag(tx: Writer, row: TenantRow): Promise<void> {
  const [tag] = respeltTags([textIn(row, 'tag')])
  if (tag !== undefined) await addTag(tx, { fileId: textIn(row, 'file_id'), tag })
}

// No file is larger (docs/protocol/files.md).
const largestBytes = 2 ** 50

/** The row of a blob of an archive, whose size is noted when the bytes come (`setBlobSize`). */
export function takeMovedBlob(row: TenantRow): TenantRow {
  if (!isBlobHash(textIn(row, 'blob_hash'))) throw invalid('/blob_hash', 'is no name of bytes')
  if (!storageKinds.some((kind) => kind === row.kind)) throw invalid('/kind', 'is none of its words')
  return { ...row, size: 0 }
}

interface Folder {
  readonly file_id: string
  readonly parent_id: string | null
  readonly original_parent_id: string | null
}

/** Fails with `E-VALIDATION` where a folder of the tenant lies in itself or too deep: what goes through folders would
 * not come to an end. */
export async function assertMovedFolders(reader: Reader): Promise<void> {
  const folders: Folder[] = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select(['file_id', 'parent_id', 'original_parent_id'])
    .where('tenant_id', '=', reader.tenantId)
    .where('file_tp', '=', 'FLDR')
    .execute()
  const byId = new Map(folders.map((folder) => [folder.file_id, folder]))
  for (const folder of folders) {
    let level = [folder]
    for (let depth = 0; level.length > 0; depth += 1) {
      if (depth > maxDepth) throw invalid('/parent_id', `leads more than ${maxDepth} folders up`)
      level = [
        ...new Set(level.flatMap(({ parent_id, original_parent_id }) => [parent_id, original_parent_id])),
      ]
        .map((id) => byId.get(id ?? ''))
        .filter((above) => above !== undefined)
    }
  }
}

/** Has the variants made of the files of the tenant of `tx` that still wait for them. */
export async function makeMovedVariants(
  { jobs }: { readonly jobs: Pick<Jobs, 'enqueueAll'> },
  tx: Writer,
): Promise<void> {
  const waiting = await tx
    .tables<FileTables>()
    .selectFrom('files')
    .select('file_id')
    .where('tenant_id', '=', tx.tenantId)
    .where('status', 'in', ['M', 'P'])
    .where('blob_hash', 'is not', null)
    .execute()
  await jobs.enqueueAll(
    tx,
    makeVariantsJob,
    waiting.map(({ file_id: fileId }) => ({ payload: { fileId }, options: { subject: fileId } })),
  )
}
