import { hash } from 'node:crypto'
import { type FileId, formatScope, type IdTag, scopeAllows } from '@kith/protocol'
import { isLiveReference, referenceHash } from '#features/accounts/index.ts'
import { actsAsTenant } from '#features/relations/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { findAccessibleFile } from '../access/file-access-store.ts'
import { writeLevel } from '../access/file-viewer.ts'
import { findViewerNamed } from '../access/find-file-viewer.ts'

const referencePrefix = 'ref '

/** By what somebody is known while they upload: an identity, or a reference, whose guests are one. */
export function uploaderOf(caller: Caller): string | undefined {
  if (caller.kind === 'identity') return caller.idTag
  return caller.kind === 'reference' ? `${referencePrefix}${referenceHash(caller.refId)}` : undefined
}

/** The same of those who upload into the storage of somebody else. */
export function visitorOf(tenant: Tenant, caller: Caller): string | undefined {
  return actsAsTenant(caller, tenant) ? undefined : uploaderOf(caller)
}

/** By what a narrowed credential is recognized as the one with which a file was made: its session or key, and how far it
 * goes, since a session has many. Undefined for one that may share files, and needs no such memory. */
export function narrowCredentialOf(caller: Caller): string | undefined {
  if (caller.kind === 'guest' || caller.sessionId === undefined || mayShare(caller)) return undefined
  const items = (caller.scope ?? []).map((item) => formatScope([item])).sort()
  return hash('sha256', [caller.sessionId, ...items].join(' '), 'base64url')
}

/** Does the credential reach as far as giving files to others? What its holder owns is another question. */
export function mayShare(caller: Caller): boolean {
  return caller.kind === 'identity' && scopeAllows(caller.scope, 'admin:files')
}

/** May somebody, known by this name, still put files into a folder, or into none? */
export async function mayStillUpload(
  reader: Reader,
  tenant: Tenant,
  upload: { readonly uploader: string; readonly parentId: FileId | undefined; readonly now: number },
): Promise<boolean> {
  const { uploader, parentId, now } = upload
  if (uploader.startsWith(referencePrefix))
    return await isLiveReference(reader, uploader.slice(referencePrefix.length), now)
  const who = await findViewerNamed(reader, tenant, uploader as IdTag)
  const { facts } = who.viewer
  if (parentId === undefined)
    return facts.has('acts-as-tenant') || (facts.has('community') && facts.has('connected'))
  const folder = await findAccessibleFile(reader, who, { fileId: parentId, now })
  return folder !== undefined && folder.level >= writeLevel && folder.file.status !== 'D'
}
