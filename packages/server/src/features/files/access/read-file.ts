import type { FileId } from '@kith/protocol'
import { actsAsTenant } from '#features/relations/index.ts'
import { type Caller, hasRole, type Tenant } from '#infra/caller/index.ts'
import type { Database, Reader } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { StoredFile, StoredVariant } from '../file.ts'
import { listVariants } from '../file-store.ts'
import { type AccessibleFile, findAccessibleFile } from './file-access-store.ts'
import { type FileLevel, readLevel } from './file-viewer.ts'
import { findFileViewer } from './find-file-viewer.ts'

export interface ReadDeps {
  readonly db: Database
  readonly clock: Clock
}

export interface FileQuestion {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly fileId: FileId
}

/** A file on which the caller has this level, reading when absent. One that it may not read is as unknown as one that
 * does not exist; one that it may read and not more is `E-AUTH-FORBIDDEN`. */
export async function getFile(
  deps: ReadDeps,
  question: FileQuestion,
  needed: FileLevel = readLevel,
): Promise<AccessibleFile> {
  return await getFileWithin(deps.db.reader(question.tenant.tenantId), deps, question, needed)
}

/** The same with the reader or the transaction of something larger. */
export async function getFileWithin(
  reader: Reader,
  { clock }: Pick<ReadDeps, 'clock'>,
  { tenant, caller, fileId }: FileQuestion,
  needed: FileLevel,
): Promise<AccessibleFile> {
  const now = nowSecs(clock)
  const who = await findFileViewer(reader, { tenant, caller, now })
  const found = await findAccessibleFile(reader, who, { fileId, now })
  if (!found) throw new Failure('E-FILE-NOTFOUND')
  if (found.level < needed) throw new Failure('E-AUTH-FORBIDDEN')
  return found
}

/** What lies in the trash is as it was until it comes out. */
export function assertNotTrashed({ status }: StoredFile): void {
  if (status === 'D') throw new Failure('E-STATE', { message: 'This file is in the trash.' })
}

/** Is it the caller's own: its owner's, or for whoever acts for the tenant any? A share is not enough. */
export function isOwnFile(tenant: Tenant, caller: Caller, file: StoredFile): boolean {
  if (actsAsTenant(caller, tenant)) return true
  const contributes = tenant.type === 'community' && hasRole(caller, 'contributor')
  return contributes && caller.kind === 'identity' && file.ownerTag === caller.idTag && !file.isCopy
}

/** A file that is the caller's own to change. */
export async function getOwnFile(
  reader: Reader,
  deps: Pick<ReadDeps, 'clock'>,
  question: FileQuestion,
): Promise<StoredFile> {
  const { file } = await getFileWithin(reader, deps, question, readLevel)
  if (!isOwnFile(question.tenant, question.caller, file)) throw new Failure('E-AUTH-FORBIDDEN')
  return file
}

/** The same with the variants that exist. */
export async function getFileWithVariants(
  deps: ReadDeps,
  question: FileQuestion,
): Promise<AccessibleFile & { readonly variants: readonly StoredVariant[] }> {
  const found = await getFile(deps, question)
  const variants = await listVariants(deps.db.reader(question.tenant.tenantId), question.fileId)
  return { ...found, variants }
}
