import {
  type FileId,
  type FileType,
  type IdTag,
  parseFileId,
  parseTimestamp,
  scopeAllows,
} from '@kith/protocol'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, tooNarrow } from '#lib/failure.ts'
import { writeLevel } from '../access/file-viewer.ts'
import { getFileWithin, isOwnFile, type ReadDeps } from '../access/read-file.ts'
import { updateCopyEnd } from '../copies/copy-store.ts'
import { addSharedFile, removeSharedFile, type SharedFileDeps } from '../copies/shared-file.ts'
import { findFile } from '../file-store.ts'
import { assertMayGrant } from './assert-may-grant.ts'
import { type EndDeps, removeShares, tellOfShare } from './end-shares.ts'
import { foundShare } from './found-share.ts'
import { reviewAtOnce, reviewWhatRestsOn } from './review-shares.ts'
import { isWithin } from './share.ts'
import { findShareOf, putShare } from './share-store.ts'

interface ShareActionDeps extends EndDeps, SharedFileDeps {
  readonly emit: EndDeps['emit']
  readonly clock: ReadDeps['clock']
  readonly jobs: EndDeps['jobs'] & SharedFileDeps['jobs']
  readonly beforeRemoval: (tx: Writer, fileIds: readonly FileId[]) => Promise<void>
}

/** What an FSHR action says. */
interface FileShareAction {
  readonly issuerTag: IdTag
  /** The member of a community who made it in the community's name. */
  readonly authorTag?: IdTag | undefined
  readonly audienceTag?: IdTag | undefined
  readonly subject?: string | undefined
  readonly content?: Readonly<Record<string, unknown>> | undefined
}

/** What FSHR actions do to files: on the side of who shares `describe`, `grant`, `withdraw` and `decline`, on that of who
 * is shared with `accept`, `renew` and `drop`. */
export function shareActions(deps: ShareActionDeps) {
  return {
    describe: (reader: Reader, asked: Asked) => describe(deps, reader, asked),
    grant: (tx: Writer, tenant: Tenant, action: FileShareAction) => grant(deps, tx, { tenant, action }),
    withdraw: (tx: Writer, tenant: Tenant, action: Pick<FileShareAction, 'subject' | 'audienceTag'>) =>
      withdraw(deps, tx, { tenant, action }),
    decline: (
      tx: Writer,
      tenant: Tenant,
      { subject, issuerTag }: Pick<FileShareAction, 'subject' | 'issuerTag'>,
    ) => withdraw(deps, tx, { tenant, action: { subject, audienceTag: issuerTag } }),
    accept: (tx: Writer, action: FileShareAction) => accept(deps, tx, action),
    renew: (tx: Writer, action: FileShareAction) => renew(tx, action),
    drop: (tx: Writer, action: Pick<FileShareAction, 'subject' | 'issuerTag'>) => drop(deps, tx, action),
  }
}

interface Asked {
  readonly tenant: Tenant
  /** Undefined: the server itself. */
  readonly caller: Identified | undefined
  readonly audienceTag: IdTag | undefined
  readonly fileId: FileId
  readonly permission: 'READ' | 'WRITE'
  readonly expiresAt: number | undefined
}

interface Described {
  readonly fileName: string
  readonly contentType: string
  readonly fileTp: FileType
  readonly expiresAt?: number
}

/** Fails unless the caller may give this access, as for `POST …/shares`. */
async function describe(deps: ShareActionDeps, reader: Reader, asked: Asked): Promise<Described> {
  const { caller, fileId } = asked
  const given = caller
    ? await findGivable(deps, reader, { ...asked, caller })
    : { file: await findFile(reader, fileId), expiresAt: asked.expiresAt }
  if (!given.file) throw new Failure('E-FILE-NOTFOUND')
  const { fileName, contentType, fileTp } = given.file
  const { expiresAt } = given
  return { fileName, contentType, fileTp, ...(expiresAt === undefined ? {} : { expiresAt }) }
}

async function findGivable(
  deps: ShareActionDeps,
  reader: Reader,
  { tenant, caller, audienceTag, fileId, ...asked }: Asked & { readonly caller: Identified },
) {
  const now = nowSecs(deps.clock)
  const permission = permissionOf(asked.permission)
  const found = await getFileWithin(reader, deps, { tenant, caller, fileId }, writeLevel)
  const subject = { fileId, subjectType: 'U', subjectId: audienceTag ?? '' } as const
  const known = await findShareOf(reader, subject)
  assertMayGrant({ ...subject, granterTag: caller.idTag, permission, known, now }, found)
  if (!scopeAllows(caller.scope, 'admin:files')) throw tooNarrow('admin:files')
  const made = await foundShare(
    reader,
    tenant,
    {
      ...subject,
      permission,
      expiresAt: asked.expiresAt,
      createdBy: caller.idTag,
      createdAt: now,
      isDerived: !isOwnFile(tenant, caller, found.file),
      refHash: undefined,
    },
    known,
  )
  if (!made) throw new Failure('E-AUTH-FORBIDDEN')
  return { file: found.file, expiresAt: made.expiresAt }
}

interface Told<Members extends keyof FileShareAction> {
  readonly tenant: Tenant
  readonly action: Pick<FileShareAction, Members>
}

/** A share that gives more than an action can say, administration, keeps it. */
async function grant(
  deps: ShareActionDeps,
  tx: Writer,
  { tenant, action }: Told<keyof FileShareAction>,
): Promise<void> {
  const subject = subjectOf(action)
  const file = subject && (await findFile(tx, subject.fileId))
  if (!file) return
  const { content = {}, issuerTag, authorTag = issuerTag } = action
  const known = await findShareOf(tx, subject)
  const asked = permissionOf(content.permission)
  const given = {
    ...subject,
    permission: asked === 'W' && known?.permission === 'A' ? 'A' : asked,
    expiresAt: endOf(content),
    createdBy: authorTag,
    createdAt: nowSecs(deps.clock),
    isDerived: authorTag !== issuerTag && authorTag !== file.ownerTag,
    refHash: undefined,
  } as const
  const made = await foundShare(tx, tenant, given, known)
  if (!made) return
  const share = await putShare(tx, made)
  await tellOfShare(deps, tx, share, 'file.shared')
  if (known && !isWithin(known, share)) await reviewWhatRestsOn(deps, tx, tenant, share)
}

async function withdraw(
  deps: ShareActionDeps,
  tx: Writer,
  { tenant, action }: Told<'subject' | 'audienceTag'>,
): Promise<void> {
  const subject = subjectOf(action)
  const share = subject && (await findShareOf(tx, subject))
  if (!share) return
  await reviewAtOnce(deps, tx, tenant, await removeShares(deps, tx, [share]))
}

function permissionOf(word: unknown): 'R' | 'W' {
  return word === 'WRITE' ? 'W' : 'R'
}

function subjectOf({ subject, audienceTag }: Pick<FileShareAction, 'subject' | 'audienceTag'>) {
  const fileId = parseFileId(subject ?? '')
  return fileId && audienceTag && ({ fileId, subjectType: 'U', subjectId: audienceTag } as const)
}

async function accept(deps: ShareActionDeps, tx: Writer, action: FileShareAction): Promise<void> {
  const { subject, issuerTag, content = {} } = action
  const fileId = parseFileId(subject ?? '')
  if (!fileId) return
  const { fileName, contentType } = content
  await addSharedFile(deps, tx, {
    fileId,
    ownerTag: issuerTag,
    fileName: typeof fileName === 'string' ? fileName : undefined,
    contentType: typeof contentType === 'string' ? contentType : undefined,
    expiresAt: endOf(content),
  })
}

/** Its owner's newest word on how long a file is shared counts at once, also before it is accepted. */
async function renew(tx: Writer, { subject, issuerTag, content = {} }: FileShareAction): Promise<void> {
  const fileId = parseFileId(subject ?? '')
  if (fileId) await updateCopyEnd(tx, { fileId, ownerTag: issuerTag, expiresAt: endOf(content) })
}

function endOf({ expiresAt }: Readonly<Record<string, unknown>>): number | undefined {
  return expiresAt === undefined ? undefined : parseTimestamp(expiresAt)
}

async function drop(
  deps: ShareActionDeps,
  tx: Writer,
  { subject, issuerTag }: Pick<FileShareAction, 'subject' | 'issuerTag'>,
): Promise<void> {
  const fileId = parseFileId(subject ?? '')
  if (fileId) await removeSharedFile(deps, tx, { fileId, ownerTag: issuerTag })
}
