import type { FileId, IdTag } from '@kith/protocol'
import { type Caller, hasRole, isOwner, ownerOf, type Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { CreateDeps } from '../action-ports.ts'
import { makeAction, storeMade } from './create-action.ts'

interface FileShareNotice {
  readonly tenant: Tenant
  /** Who shares the file or takes the share back; undefined when the share ended by itself. */
  readonly caller: Caller | undefined
  readonly audienceTag: IdTag
  readonly fileId: FileId
  readonly grant:
    | 'withdrawn'
    | { readonly permission: 'READ' | 'WRITE'; readonly expiresAt: number | undefined }
}

/** Makes and signs an FSHR action, and answers a function that stores it in the share's transaction. It is made in the
 * caller's name if the caller may issue actions, else in the name of the tenant's owner. */
export async function prepareFileShare(
  ports: CreateDeps,
  { tenant, caller, audienceTag, fileId, grant }: FileShareNotice,
): Promise<(tx: Writer) => Promise<void>> {
  const input =
    grant === 'withdrawn'
      ? { type: 'FSHR', subType: 'DEL', subject: fileId, audienceTag }
      : { type: 'FSHR', subject: fileId, audienceTag, content: contentOf(grant) }
  const issues =
    caller && (isOwner(caller) || (tenant.type === 'community' && hasRole(caller, 'contributor')))
  const made = await makeAction(ports, { tenant, caller: issues ? caller : ownerOf(tenant), input })
  return async (tx) => void (await storeMade(ports, tx, made))
}

function contentOf({ permission, expiresAt }: Exclude<FileShareNotice['grant'], 'withdrawn'>) {
  return expiresAt === undefined ? { permission } : { permission, expiresAt }
}
