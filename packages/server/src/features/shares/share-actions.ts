import {
  type FileId,
  type FileType,
  type IdTag,
  parseFileId,
  parseTimestamp,
  scopeAllows,
} from '@kith/protocol'
import {
  addSharedFile,
  findFile,
  getFileWithin,
  type ReadDeps,
  removeSharedFile,
  type SharedFileDeps,
  writeLevel,
} from '#features/files/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type EndDeps, removeShares } from './end-shares.ts'
import { levelOf } from './share.ts'
import { findShareOf, putShare } from './share-store.ts'

export interface ShareActionDeps extends EndDeps, SharedFileDeps {
  readonly clock: ReadDeps['clock']
  readonly jobs: EndDeps['jobs'] & SharedFileDeps['jobs']
  readonly beforeRemoval: (tx: Writer, fileIds: readonly FileId[]) => Promise<void>
}

/** What an FSHR action says. */
export interface FileShareAction {
  readonly issuerTag: IdTag
  /** The member of a community who made it in the community's name. */
  readonly authorTag?: IdTag | undefined
  readonly audienceTag?: IdTag | undefined
  readonly subject?: string | undefined
  readonly content?: Readonly<Record<string, unknown>> | undefined
}

/** What FSHR actions do to files: on the side of who shares `describe`, `grant`, `withdraw`, on that of who is shared
 * with `accept` and `drop`. */
export function shareActions(deps: ShareActionDeps) {
  return {
    describe: (reader: Reader, asked: Asked) => describe(deps, reader, asked),
    grant: (tx: Writer, action: FileShareAction) => grant(deps, tx, action),
    withdraw: (tx: Writer, action: Pick<FileShareAction, 'subject' | 'audienceTag'>) =>
      withdraw(deps, tx, action),
    accept: (tx: Writer, action: FileShareAction) => accept(deps, tx, action),
    drop: (tx: Writer, action: Pick<FileShareAction, 'subject' | 'issuerTag'>) => drop(deps, tx, action),
  }
}

interface Asked {
  readonly tenant: Tenant
  /** Undefined: the server itself. */
  readonly caller: Identified | undefined
  readonly fileId: FileId
  readonly permission: 'READ' | 'WRITE'
}

interface Described {
  readonly fileName: string
  readonly contentType: string
  readonly fileTp: FileType
}

/** Fails unless the caller may give this access, as for `POST …/shares`. */
async function describe(
  deps: ShareActionDeps,
  reader: Reader,
  { tenant, caller, fileId, permission }: Asked,
): Promise<Described> {
  const file = caller
    ? await findShareable(deps, reader, { tenant, caller, fileId, permission })
    : await findFile(reader, fileId)
  if (!file) throw new Failure('E-FILE-NOTFOUND')
  const { fileName, contentType, fileTp } = file
  return { fileName, contentType, fileTp }
}

async function findShareable(
  deps: ShareActionDeps,
  reader: Reader,
  { permission, ...question }: Asked & { readonly caller: Identified },
) {
  const { file, level } = await getFileWithin(reader, deps, question, writeLevel)
  const isEnough = level >= levelOf(permission === 'READ' ? 'R' : 'W')
  if (!isEnough || file.isCopy || !scopeAllows(question.caller.scope, 'admin:files'))
    throw new Failure('E-AUTH-FORBIDDEN')
  return file
}

/** A share that gives more than an action can say, administration, keeps it. */
async function grant(deps: ShareActionDeps, tx: Writer, action: FileShareAction): Promise<void> {
  const subject = subjectOf(action)
  const file = subject && (await findFile(tx, subject.fileId))
  if (!file) return
  const { content = {}, issuerTag, authorTag = issuerTag } = action
  const known = await findShareOf(tx, subject)
  const asked = content.permission === 'WRITE' ? 'W' : 'R'
  await putShare(tx, {
    ...subject,
    permission: asked === 'W' && known?.permission === 'A' ? 'A' : asked,
    expiresAt: content.expiresAt === undefined ? undefined : parseTimestamp(content.expiresAt),
    createdBy: authorTag,
    createdAt: nowSecs(deps.clock),
    isDerived: authorTag !== issuerTag && authorTag !== file.ownerTag,
    refHash: undefined,
  })
}

async function withdraw(
  deps: ShareActionDeps,
  tx: Writer,
  action: Pick<FileShareAction, 'subject' | 'audienceTag'>,
): Promise<void> {
  const subject = subjectOf(action)
  const share = subject && (await findShareOf(tx, subject))
  // What was given on by it ends with the next sweep.
  if (share) await removeShares(deps, tx, [share])
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
  })
}

async function drop(
  deps: ShareActionDeps,
  tx: Writer,
  { subject, issuerTag }: Pick<FileShareAction, 'subject' | 'issuerTag'>,
): Promise<void> {
  const fileId = parseFileId(subject ?? '')
  if (fileId) await removeSharedFile(deps, tx, { fileId, ownerTag: issuerTag })
}
