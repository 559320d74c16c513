import type { Readable } from 'node:stream'
import { type FileId, maxSelectedFiles } from '@kith/protocol'
import { actsAsTenant } from '#features/relations/index.ts'
import type { BlobHash, BlobStore } from '#infra/blobs/index.ts'
import { type Caller, idTagOf, type Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { writeZipStream, type ZipPart } from '#infra/zip/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { watchReader } from '#lib/watch-reader.ts'
import { findAccessibleFile } from '../access/file-access-store.ts'
import { findFileViewer } from '../access/find-file-viewer.ts'
import { assertNotTrashed, type FileQuestion, getFile, type ReadDeps } from '../access/read-file.ts'
import { type ContentsByType, contentsOf } from '../contents/file-contents.ts'
import { openPieces } from '../contents/serve-content.ts'
import type { StoredFile } from '../file.ts'
import { listVariants } from '../file-store.ts'
import { contentDisposition, sandboxPolicy } from '../serving/serving-headers.ts'
import type { ArchiveTurns } from './archive-turns.ts'
import { GuestPictures } from './guest-pictures.ts'
import { nextTurn } from './next-turn.ts'
import { type ArchiveRoots, type PlannedEntry, planArchive } from './plan-archive.ts'

export interface ArchiveDeps extends ReadDeps {
  readonly blobs: Pick<BlobStore, 'open'>
  readonly contents: ContentsByType
  readonly archiveTurns: ArchiveTurns
  /** Undefined when it is gone. */
  readonly findTenant: (
    tenantId: TenantId,
  ) => Promise<{ readonly suspendedAt?: number | undefined } | undefined>
}

interface ArchiveVisit extends Omit<FileQuestion, 'fileId'> {
  readonly address: string
  /** Aborted when nobody reads the answer any more. */
  readonly signal: AbortSignal
}

interface ArchiveQuestion extends ArchiveVisit {
  readonly roots: ArchiveRoots
}

interface ServedArchive {
  readonly headers: Record<string, string>
  readonly open: () => Promise<Readable>
}

/** A folder as a zip archive that is made while it is sent (docs/protocol/file-life.md, Folders as archives). */
export async function serveArchive(
  deps: ArchiveDeps,
  question: ArchiveVisit & Pick<FileQuestion, 'fileId'>,
): Promise<ServedArchive> {
  const { fileId: folderId, ...visit } = question
  const { file } = await getFile(deps, question)
  assertNotTrashed(file)
  if (file.fileTp !== 'FLDR') throw invalid('/params/fileId', 'is not a folder')
  // Only the server of its owner has what is in it.
  if (file.isCopy) throw new Failure('E-FILE-NOTFOUND')
  const open = () => openArchive(deps, { ...visit, roots: { folderId } })
  return { headers: headersOf(`${file.fileName}.zip`), open }
}

/** Some files in one archive, folders with what is in them. */
export async function serveSelection(
  deps: ArchiveDeps,
  { fileIds, ...visit }: ArchiveVisit & { readonly fileIds: readonly FileId[] },
): Promise<ServedArchive> {
  if (fileIds.length === 0 || fileIds.length > maxSelectedFiles)
    throw invalid('/query/ids', `must be 1 to ${maxSelectedFiles} files`)
  const files: StoredFile[] = []
  for (const fileId of new Set(fileIds)) {
    const { file } = await getFile(deps, { ...visit, fileId })
    assertNotTrashed(file)
    files.push(file)
  }
  return { headers: headersOf('files.zip'), open: () => openArchive(deps, { ...visit, roots: { files } }) }
}

function headersOf(name: string): Record<string, string> {
  return {
    'content-type': 'application/zip',
    'accept-ranges': 'none',
    'cache-control': 'private, no-store',
    vary: 'Authorization',
    'content-security-policy': sandboxPolicy,
    'content-disposition': contentDisposition('attachment', name),
  }
}

async function openArchive(deps: ArchiveDeps, question: ArchiveQuestion): Promise<Readable> {
  const { tenant, caller, roots, address, signal } = question
  const over = new AbortController()
  const leave = deps.archiveTurns.enter(
    {
      tenantId: tenant.tenantId,
      standing: standingOf(tenant, caller),
      account: accountOf(tenant, caller),
      address,
    },
    () => over.abort(),
  )
  try {
    const now = nowSecs(deps.clock)
    const reader = deps.db.reader(tenant.tenantId)
    const who = await findFileViewer(reader, { tenant, caller, now })
    const entries = await planArchive(reader, who, {
      roots,
      now,
      signal: AbortSignal.any([signal, over.signal]),
    })
    const archive = watchReader(writeZipStream(partsOf(deps, question, entries)), deps.clock)
    over.signal.addEventListener('abort', () => archive.destroy(), { once: true })
    if (over.signal.aborted) archive.destroy()
    return archive.once('close', leave)
  } catch (error) {
    leave()
    throw error
  }
}

function standingOf(tenant: Tenant, caller: Caller): 'owner' | 'identity' | 'unnamed' {
  if (caller.kind !== 'identity') return 'unnamed'
  return actsAsTenant(caller, tenant) ? 'owner' : 'identity'
}

function accountOf(tenant: Tenant, caller: Caller): string | undefined {
  const holder = caller.kind === 'reference' ? caller.refId : idTagOf(caller)
  return holder === undefined ? undefined : `${tenant.tenantId} ${holder}`
}

async function* partsOf(
  deps: ArchiveDeps,
  question: ArchiveQuestion,
  entries: readonly PlannedEntry[],
): AsyncGenerator<ZipPart> {
  const { tenantId } = question.tenant
  const forGuests =
    question.caller.kind === 'guest' ? new GuestPictures(entries.map(({ path }) => path)) : undefined
  for (const { fileId, path, modifiedAt } of entries) {
    await nextTurn(question.signal)
    const file = await findStill(deps, question, fileId)
    if (!file) continue
    const shown =
      forGuests && file.contentType.startsWith('image/')
        ? forGuests.choose({ file, path }, await listVariants(deps.db.reader(tenantId), fileId))
        : 'original'
    if (!shown) continue
    if (shown !== 'original') {
      yield { ...shown, modifiedAt, isCompressed: false, open: () => openBlob(deps, tenantId, shown) }
      continue
    }
    const { size, contentType, fileTp } = file
    yield {
      path,
      modifiedAt,
      ...(fileTp === 'BLOB' && { size }),
      isCompressed: fileTp !== 'BLOB' || !isPacked.test(contentType),
      open: () => openContent(deps, tenantId, file),
    }
  }
}

// To compress these costs time and gains nothing.
const isPacked =
  /^(?:image\/(?!svg|bmp|tiff)|video\/|audio\/(?!wav)|font\/woff|application\/(?:zip|gzip|pdf|x-7z|x-rar|x-xz|x-bzip|zstd|epub|vnd\.openxml|vnd\.oasis|java-archive|octet-stream))/

/** The file, if the caller may read it now. Throws when it may not read the folder any more. */
async function findStill(
  deps: ArchiveDeps,
  { tenant, caller, roots }: ArchiveQuestion,
  fileId: FileId,
): Promise<StoredFile | undefined> {
  const { tenantId } = tenant
  const host = await deps.findTenant(tenantId)
  const now = nowSecs(deps.clock)
  const reader = deps.db.reader(tenantId)
  const who = await findFileViewer(reader, { tenant, caller, now })
  const folder =
    'folderId' in roots && (await findAccessibleFile(reader, who, { fileId: roots.folderId, now }))
  const isServed = host !== undefined && host.suspendedAt === undefined
  const isGone = 'folderId' in roots && (!folder || folder.file.status === 'D')
  if (!isServed || isGone) throw new Failure('E-FILE-NOTFOUND')
  const found = await findAccessibleFile(reader, who, { fileId, now })
  return found && found.file.status !== 'D' ? found.file : undefined
}

async function openContent(
  deps: ArchiveDeps,
  tenantId: TenantId,
  { fileId, fileTp, content, size }: StoredFile,
): Promise<Readable | undefined> {
  const live = contentsOf(deps.contents, fileTp)
  if (live) return await openPieces(live.present(tenantId, fileId))
  return content && (await openBlob(deps, tenantId, { hash: content.hash, size }))
}

async function openBlob(
  { blobs }: Pick<ArchiveDeps, 'blobs'>,
  tenantId: TenantId,
  { hash, size }: { readonly hash: BlobHash; readonly size: number },
): Promise<Readable> {
  const stream = await blobs.open(tenantId, hash, size > 0 ? { start: 0, end: size - 1 } : undefined)
  if (!stream) throw new Error(`blob ${hash} of tenant ${tenantId} is missing`)
  return stream
}
