import { type FileId, parseFileId } from '@kith/protocol'
import { actsAsTenant } from '#features/visibility/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { listAttachable } from './file-access-store.ts'

/** Fails with `E-FILE-NOTFOUND` unless each of these is a file of the tenant that the caller may give to an audience:
 * whoever acts for the tenant any of its own, a member of a community theirs; copies of others' files nobody. */
export async function assertAttachable(
  reader: Reader,
  input: { readonly tenant: Tenant; readonly caller: Caller; readonly attachments: readonly string[] },
): Promise<void> {
  const { tenant, caller, attachments } = input
  if (attachments.length === 0) return
  const fileIds = attachments.map(parseFileId).filter((fileId): fileId is FileId => fileId !== undefined)
  const owner = actsAsTenant(caller, tenant) ? 'anybody' : caller.kind === 'identity' && caller.idTag
  const attachable = owner ? await listAttachable(reader, fileIds, owner) : new Set<string>()
  if (attachments.some((text) => !attachable.has(text))) throw new Failure('E-FILE-NOTFOUND')
}
