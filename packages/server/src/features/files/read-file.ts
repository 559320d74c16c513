import type { FileId } from '@kith/protocol'
import { findViewer } from '#features/visibility/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { StoredVariant } from './file.ts'
import { findReadableFile, type ReadableFile } from './file-access-store.ts'
import { listVariants } from './file-store.ts'

export interface ReadDeps {
  readonly db: Database
  readonly clock: Clock
}

export interface FileQuestion {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly fileId: FileId
}

/** A file that the caller may read; one that it may not is as unknown as one that does not exist. */
export async function getFile(
  deps: ReadDeps,
  { tenant, caller, fileId }: FileQuestion,
): Promise<ReadableFile> {
  const reader = deps.db.reader(tenant.tenantId)
  const viewer = await findViewer(reader, tenant, caller)
  const found = await findReadableFile(reader, viewer, { fileId, now: nowSecs(deps.clock) })
  if (!found) throw new Failure('E-FILE-NOTFOUND')
  return found
}

/** The same with the variants that exist. */
export async function getFileWithVariants(
  deps: ReadDeps,
  question: FileQuestion,
): Promise<ReadableFile & { readonly variants: readonly StoredVariant[] }> {
  const found = await getFile(deps, question)
  const variants = await listVariants(deps.db.reader(question.tenant.tenantId), question.fileId)
  return { ...found, variants }
}
