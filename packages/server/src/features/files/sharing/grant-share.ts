import {
  type FileId,
  type IdTag,
  parseFileId,
  parseIdTag,
  type SharePermission,
  type ShareSubject,
} from '@kith/protocol'
import {
  assertSessionLives,
  changeReference,
  type MakeReferenceDeps,
  makeReference,
  referenceHash,
} from '#features/accounts/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { AccessibleFile } from '../access/file-access-store.ts'
import { readLevel, writeLevel } from '../access/file-viewer.ts'
import { getFile, getFileWithin, isOwnFile, type ReadDeps } from '../access/read-file.ts'
import type { StoredFile } from '../file.ts'
import type { AnnounceDeps } from './announce-share.ts'
import { assertMayGrant } from './assert-may-grant.ts'
import type { EndDeps } from './end-shares.ts'
import { foundShare } from './found-share.ts'
import { reviewWhatRestsOn } from './review-shares.ts'
import { federatedPermission, isWithin, type Share } from './share.ts'
import { countShares, findShareOf, type NewShare, putShare } from './share-store.ts'

export interface GrantDeps extends ReadDeps, AnnounceDeps, EndDeps, MakeReferenceDeps {
  readonly clock: ReadDeps['clock']
}

export interface Grant {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly fileId: FileId
  readonly subjectType: ShareSubject
  readonly subjectId: string
  readonly permission: SharePermission
  readonly expiresAt: number | undefined
}

const maxSharesPerFile = 1_000

/** Shares a file, or changes how it is shared with a subject. What is given cannot exceed what the caller has. */
export async function grantShare(
  deps: GrantDeps,
  grant: Grant,
): Promise<{ readonly share: Share; readonly isNew: boolean }> {
  const { tenant, fileId, subjectType } = grant
  const subjectId = await subjectOf(deps, grant)
  if (grant.expiresAt !== undefined && grant.expiresAt <= nowSecs(deps.clock))
    throw invalid('/expiresAt', 'this time has passed')
  const given = { ...grant, subjectId }
  const subject = { fileId, subjectType, subjectId }
  const reader = deps.db.reader(tenant.tenantId)
  const before = await findShareOf(reader, subject)
  const { file } = await getGivable(deps, reader, given, before)
  const announced = await shareOf(deps, reader, given, { file, known: before })
  const announce = subjectType === 'U' ? await prepare(deps, given, announced, file) : undefined
  return await deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, grant.caller)
    const known = await findShareOf(tx, subject)
    const current = await getGivable(deps, tx, given, known)
    if (!known && (await countShares(tx, fileId)) >= maxSharesPerFile)
      throw new Failure('E-STATE', { message: `A file has at most ${maxSharesPerFile} shares.` })
    const made = await shareOf(deps, tx, given, { file: current.file, known })
    const refHash = subjectType === 'L' ? await linkOf(deps, tx, made, known) : undefined
    // The action grants what actions can say; the share itself comes after it and has the last word.
    await announce?.(tx)
    const share = await putShare(tx, { ...made, refHash })
    if (known && !isWithin(known, share)) await reviewWhatRestsOn(deps, tx, tenant, share)
    return { share, isNew: known === undefined }
  })
}

async function subjectOf(
  deps: GrantDeps,
  { tenant, caller, fileId, subjectType, subjectId }: Grant,
): Promise<string> {
  switch (subjectType) {
    case 'L':
      return subjectId
    case 'U': {
      const idTag = parseIdTag(subjectId)
      if (!idTag) throw invalid('/subjectId', 'is no identity')
      if (idTag === tenant.idTag) throw invalid('/subjectId', 'has the file already')
      return idTag
    }
    case 'F': {
      const subject = parseFileId(subjectId)
      if (!subject) throw new Failure('E-FILE-NOTFOUND')
      if (subject === fileId) throw invalid('/subjectId', 'is the file itself')
      const { file } = await getFile(deps, { tenant, caller, fileId: subject }, readLevel)
      // Who reads it would be for another server's owner to say.
      if (file.isCopy) throw new Failure('E-AUTH-FORBIDDEN')
      return subject
    }
  }
}

async function getGivable(
  deps: GrantDeps,
  reader: Reader,
  grant: Grant,
  known: Share | undefined,
): Promise<AccessibleFile> {
  const { permission, subjectType, caller } = grant
  const found = await getFileWithin(reader, deps, grant, writeLevel)
  if (subjectType === 'L' && permission === 'A') throw invalid('/permission', 'a link lets read or write')
  assertMayGrant({ ...grant, granterTag: caller.idTag, known, now: nowSecs(deps.clock) }, found)
  return found
}

async function prepare(deps: GrantDeps, grant: Grant, announced: NewShare, file: StoredFile) {
  const { tenant, caller, fileId, subjectId } = grant
  const { permission, expiresAt } = announced
  const { fileName, contentType, fileTp } = file
  const described = { permission: federatedPermission(permission), expiresAt, fileName, contentType, fileTp }
  return deps.prepareFileShare({ tenant, caller, audienceTag: subjectId as IdTag, fileId, grant: described })
}

async function shareOf(
  { clock }: GrantDeps,
  reader: Reader,
  { tenant, caller, fileId, subjectType, subjectId, permission, expiresAt }: Grant,
  { file, known }: { readonly file: StoredFile; readonly known: Share | undefined },
): Promise<NewShare> {
  const asked = {
    fileId,
    subjectType,
    subjectId,
    permission,
    expiresAt,
    createdBy: caller.idTag,
    createdAt: nowSecs(clock),
    isDerived: !isOwnFile(tenant, caller, file),
    refHash: undefined,
  }
  const made = await foundShare(reader, tenant, asked, known)
  if (!made) throw new Failure('E-AUTH-FORBIDDEN')
  return made
}

/** The reference that a link is: a new one, or the one that it was. */
async function linkOf(
  deps: GrantDeps,
  tx: Writer,
  made: NewShare,
  known: Share | undefined,
): Promise<string> {
  const { fileId, createdBy, subjectId, expiresAt } = made
  const accessLevel = made.permission === 'R' ? 'read' : 'write'
  if (known?.refHash !== undefined) {
    const change = { accessLevel, expiresAt, createdBy } as const
    if (await changeReference(deps, tx, known.refHash, change)) return known.refHash
  }
  const { refId } = await makeReference(deps, tx, {
    type: 'share.file',
    description: subjectId,
    createdBy,
    resourceId: fileId,
    accessLevel,
    count: null,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  })
  return referenceHash(refId)
}
