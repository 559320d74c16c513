import { type FileId, fileTypeOf, parseFileId } from '@kith/protocol'
import { findReference, hasFileReferences } from '#features/accounts/index.ts'
import { actsAsTenant } from '#features/relations/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { listAbove } from '../folders/file-tree-store.ts'
import { mayShare, narrowCredentialOf } from '../upload/uploader.ts'
import { findAccessibleFile, hasShares, listAttachable } from './file-access-store.ts'
import { findFileViewer } from './find-file-viewer.ts'

interface Opening {
  readonly caller: Caller
  readonly fileId: FileId
  /** It comes out of the trash. */
  readonly isRestored?: boolean | undefined
}

/** Fails unless each of these is a file of the tenant that the caller may give to an audience: whoever acts for the tenant
 * any of its own, a member of a community theirs; copies of others' files nobody. A credential that may not share files
 * attaches only what was made with it. `E-AUTH-FORBIDDEN` where the caller may read them, `E-FILE-NOTFOUND` otherwise.
 * `now`: Unix seconds. */
export async function assertAttachable(
  reader: Reader,
  input: {
    readonly tenant: Tenant
    readonly caller: Caller
    readonly attachments: readonly string[]
    readonly now: number
  },
): Promise<void> {
  const { tenant, caller, attachments, now } = input
  if (attachments.length === 0) return
  const fileIds = attachments.map(parseFileId).filter((fileId): fileId is FileId => fileId !== undefined)
  const owner = actsAsTenant(caller, tenant) ? 'anybody' : caller.kind === 'identity' && caller.idTag
  const madeWith = mayShare(caller) ? 'anything' : narrowCredentialOf(caller)
  const attachable =
    owner && madeWith ? await listAttachable(reader, fileIds, { owner, madeWith }) : new Set<string>()
  const refused = attachments.filter((text) => !attachable.has(text))
  if (refused.length === 0) return
  const viewer = await findFileViewer(reader, { tenant, caller, now })
  for (const text of refused) {
    const fileId = parseFileId(text)
    const seen = fileId && (await findAccessibleFile(reader, viewer, { fileId, now }))
    if (!seen) throw new Failure('E-FILE-NOTFOUND')
  }
  throw new Failure('E-AUTH-FORBIDDEN')
}

/** Fails unless the caller may open this file of the tenant's own to others: showing it needs the same credential as
 * attaching it. */
export async function assertMayOpen(reader: Reader, opening: Opening): Promise<void> {
  if (!(await mayOpen(reader, opening))) throw new Failure('E-AUTH-FORBIDDEN')
}

/** Who may open the file alone; of a folder this says nothing of what is in it. */
export async function mayOpen(reader: Reader, { caller, fileId, isRestored }: Opening): Promise<boolean> {
  if (mayShare(caller)) return true
  const madeWith = narrowCredentialOf(caller)
  if (madeWith === undefined) return false
  return (await listAttachable(reader, [fileId], { owner: 'anybody', madeWith, isTrashed: isRestored })).has(
    fileId,
  )
}

/** Fails where putting a file into this folder, or its content, shows it to those with whom a folder there is shared, and
 * the caller may not open it to them. What lies in that shared folder already is shown to nobody new; what comes out of
 * the trash lies in none, but for whoever has it by a link to that folder. `now`: Unix seconds. */
export async function assertMayOpenIn(
  reader: Reader,
  { folderId, now, ...opening }: Opening & { readonly folderId: FileId; readonly now: number },
): Promise<void> {
  const { caller, fileId, isRestored } = opening
  // With a folder all that is in it comes, by whatever it was made.
  const isFolder = fileTypeOf(fileId) === 'FLDR'
  if (isFolder ? mayShare(caller) : await mayOpen(reader, opening)) return
  const known = new Set(
    isRestored ? await listLinked(reader, caller) : await listAbove(reader, fileId, 'lay'),
  )
  const entered = (await listAbove(reader, folderId, 'lay')).filter((above) => !known.has(above))
  const isShown =
    (await hasShares(reader, entered, now)) || (await hasFileReferences(reader, { fileIds: entered, now }))
  if (isShown) throw new Failure('E-AUTH-FORBIDDEN')
}

/** The file or folder to which the caller holds a link, with the folders in which it lies. */
async function listLinked(reader: Reader, caller: Caller): Promise<string[]> {
  const link = caller.kind === 'reference' ? await findReference(reader, caller.refId) : undefined
  const fileId = link?.resourceId === undefined ? undefined : parseFileId(link.resourceId)
  return fileId ? await listAbove(reader, fileId, 'lay') : []
}
