import type { FileId } from '@kith/protocol'
import type { Database, TenantId } from '#infra/db/index.ts'
import type { ContentsByType, FileContents } from './file-contents.ts'
import { listContentFiles } from './live-files-store.ts'

interface VerifyContentsDeps {
  readonly db: Database
  readonly contents: ContentsByType
}

/** Content of a document or a database that cannot be read as it was stored. */
export interface ContentProblem {
  readonly kind: 'unreadable'
  readonly fileId: FileId
  /** Of a snapshot; absent for the present state. */
  readonly seq?: number
  readonly reason: string
}

interface ContentCensus {
  readonly files: number
  readonly snapshots: number
}

const filesAtOnce = 100

/** Reads all that a tenant's documents and databases contain, and their histories. Tells what cannot be read as it is found, and
 * answers how much it looked at. */
export async function* verifyContents(
  { db, contents }: VerifyContentsDeps,
  tenantId: TenantId,
): AsyncGenerator<ContentProblem, ContentCensus> {
  const reader = db.reader(tenantId)
  const census = { files: 0, snapshots: 0 }
  let after: FileId | undefined
  while (true) {
    const files = await listContentFiles(reader, { after, limit: filesAtOnce })
    for (const { fileId, fileTp } of files) {
      const of = contents[fileTp]
      census.files += 1
      const reason = await reasonOf(() => checkPresent(of, tenantId, fileId))
      if (reason !== undefined) yield { kind: 'unreadable', fileId, reason }
      for (const { seq, size } of await of.listSnapshots(reader, fileId)) {
        census.snapshots += 1
        const why = await reasonOf(() => checkSnapshot(of, { tenantId, fileId, seq, size }))
        if (why !== undefined) yield { kind: 'unreadable', fileId, seq, reason: why }
      }
    }
    after = files.at(-1)?.fileId
    if (files.length < filesAtOnce) return census
  }
}

async function checkPresent(
  contents: FileContents,
  tenantId: TenantId,
  fileId: FileId,
): Promise<string | undefined> {
  if (contents.check) return await contents.check(tenantId, fileId)
  await countBytes(contents.present(tenantId, fileId))
  return undefined
}

async function checkSnapshot(
  contents: FileContents,
  of: { readonly tenantId: TenantId; readonly fileId: FileId; readonly seq: number; readonly size: number },
): Promise<string | undefined> {
  const pieces = await contents.snapshot(of.tenantId, of.fileId, of.seq)
  // The history may have been thinned since.
  if (!pieces) return undefined
  const bytes = await countBytes(pieces)
  return bytes === of.size ? undefined : `it has ${bytes} bytes instead of ${of.size}`
}

async function countBytes(pieces: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0
  for await (const piece of pieces) bytes += piece.length
  return bytes
}

async function reasonOf(check: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await check()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
