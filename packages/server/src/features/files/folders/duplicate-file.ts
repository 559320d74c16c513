import type { FileId } from '@kith/protocol'
import type { TenantId, Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { type FileQuestion, getFile } from '../access/read-file.ts'
import { countContent } from '../contents/count-content.ts'
import {
  type ContentsByType,
  type CopyAhead,
  contentsOf,
  type FileContents,
  type LiveFileType,
} from '../contents/file-contents.ts'
import { queueRemovalOfCopy } from '../contents/remove-contents.ts'
import { type CreateDeps, createFile, newFileId } from '../create-file.ts'
import type { NewFile } from '../file.ts'
import { findFree, type StorageLimits } from '../upload/reserve-storage.ts'
import { assertMayPlace } from './place-file.ts'

export interface DuplicateDeps extends CreateDeps {
  readonly jobs: Pick<Jobs, 'enqueueAll'>
  readonly contents: ContentsByType
  readonly limitsOf: (tenantId: TenantId) => Promise<StorageLimits>
}

interface Duplication extends FileQuestion {
  readonly fileName: string | undefined
  readonly parentId: FileId | undefined
}

// Some 100 ms of the only writer of SQLite. What is larger is read at one moment and copied in portions.
const maxCopiedAtOnce = 16 * 1024 ** 2
// What is copied in portions is counted at the end: one of a tenant at a time, in each process.
const copying = new Set<TenantId>()

/** Makes a new document or database of what another contains now. It is as private as one that is made empty. */
export async function duplicateFile(deps: DuplicateDeps, duplication: Duplication): Promise<NewFile> {
  const { tenant, caller, fileName, parentId } = duplication
  const { file } = await getFile(deps, duplication)
  const contents = contentsOf(deps.contents, file.fileTp)
  if (!contents) throw invalid('/params/fileId', 'only documents and databases can be duplicated')
  // What another server keeps has no content here.
  if (file.status === 'D' || file.isCopy) throw new Failure('E-STATE')
  const { contentType, tags, fileId: from, size } = file
  const fileTp = file.fileTp as LiveFileType
  const limits = await deps.limitsOf(tenant.tenantId)
  const described = { fileTp, contentType, tags, parentId, visibility: null }
  const creation = {
    ...{ tenant, caller, copyOf: from, fileId: newFileId(fileTp), ...described },
    fileName: fileName ?? file.fileName,
  }
  const make = (copy: (tx: Writer) => Promise<number>) =>
    createFile(deps, creation, async (tx, { fileId }) =>
      countContent(tx, { fileId, bytes: await copy(tx), limits, now: nowSecs(deps.clock) }),
    )
  if (size <= maxCopiedAtOnce) return await make((tx) => contents.copy(tx, from, creation.fileId))
  await assertMayCopy(deps, { ...creation, fileId: from, path: '/parentId' }, { size, limits })
  const bytes = await copyInPortions(deps, contents, {
    tenantId: tenant.tenantId,
    from,
    to: creation.fileId,
    fileTp,
  })
  return await make(async () => bytes)
}

/** Before a long copy: all that is asked again when the file is made. */
async function assertMayCopy(
  { db, clock }: DuplicateDeps,
  place: Parameters<typeof assertMayPlace>[2],
  { size, limits }: { readonly size: number; readonly limits: StorageLimits },
): Promise<void> {
  await db.transact(place.tenant.tenantId, async (tx) => {
    await assertMayPlace(tx, { clock }, place)
    if (size > (await findFree(tx, nowSecs(clock), limits))) throw new Failure('E-QUOTA')
  })
}

async function copyInPortions(
  deps: DuplicateDeps,
  contents: FileContents,
  { fileTp, ...copy }: CopyAhead & { readonly fileTp: LiveFileType },
): Promise<number> {
  const { tenantId, to } = copy
  if (copying.has(tenantId)) throw new Failure('E-UNAVAILABLE', { retryAfterSecs: 10 })
  copying.add(tenantId)
  try {
    await deps.db.transact(tenantId, (tx) => queueRemovalOfCopy(deps, tx, { fileTp, fileId: to }))
    return await contents.copyAhead(copy)
  } finally {
    copying.delete(tenantId)
  }
}
