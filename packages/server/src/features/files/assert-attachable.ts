import { type FileId, type IdTag, parseFileId } from '@kith/protocol'
import { type Caller, isOwner, type Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { listAttachable } from './file-access-store.ts'

/** Fails with `E-FILE-NOTFOUND` unless each of these is a file of the tenant that the caller may give to an audience:
 * the tenant's owner any of them, a member of a community their own. */
export async function assertAttachable(
  reader: Reader,
  input: { readonly tenant: Tenant; readonly caller: Caller; readonly attachments: readonly string[] },
): Promise<void> {
  const { caller, attachments } = input
  const fileIds = attachments.map(parseFileId).filter((fileId): fileId is FileId => fileId !== undefined)
  const ownerTag: IdTag | undefined = isOwner(caller) || caller.kind !== 'identity' ? undefined : caller.idTag
  const attachable = await listAttachable(reader, fileIds, ownerTag)
  if (attachments.some((text) => !attachable.has(text as FileId))) throw new Failure('E-FILE-NOTFOUND')
}
