import {
  type FileId,
  type IdTag,
  parseFileId,
  parseIdTag,
  type SharePermission,
  type ShareSubject,
} from '@kith/protocol'
import {
  type AccessibleFile,
  getFile,
  getFileWithin,
  isOwnFile,
  type ReadDeps,
  readLevel,
  writeLevel,
} from '#features/files/index.ts'
import {
  changeReference,
  type MakeReferenceDeps,
  makeReference,
  referenceHash,
} from '#features/references/index.ts'
import type { RevokeDeps } from '#features/sessions/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { AnnounceDeps } from './announce-share.ts'
import { federatedPermission, levelOf, type Share } from './share.ts'
import { countShares, findShareOf, type NewShare, putShare } from './share-store.ts'

export interface GrantDeps extends ReadDeps, AnnounceDeps, RevokeDeps, MakeReferenceDeps {}

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
  const subjectId = await subjectOf(deps, grant)
  if (grant.expiresAt !== undefined && grant.expiresAt <= nowSecs(deps.clock))
    throw invalid('/expiresAt', 'this time has passed')
  const found = await getFile(deps, grant, writeLevel)
  assertMayGive(grant, found)
  const announce = grant.subjectType === 'U' ? await prepare(deps, grant, subjectId, found) : undefined
  return await deps.db.transact(grant.tenant.tenantId, async (tx) => {
    const current = await getFileWithin(tx, deps, grant, writeLevel)
    assertMayGive(grant, current)
    const { fileId, subjectType } = grant
    const known = await findShareOf(tx, { fileId, subjectType, subjectId })
    if (!known && (await countShares(tx, fileId)) >= maxSharesPerFile)
      throw new Failure('E-STATE', { message: `A file has at most ${maxSharesPerFile} shares.` })
    const refHash = subjectType === 'L' ? await linkOf(deps, tx, grant, known) : undefined
    // The action grants what actions can say; the share itself comes after it and has the last word.
    await announce?.(tx)
    const share = await putShare(tx, { ...shareOf(deps, grant, current), subjectId, refHash })
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
      await getFile(deps, { tenant, caller, fileId: subject }, readLevel)
      return subject
    }
  }
}

function assertMayGive({ permission, subjectType }: Grant, { file, level }: AccessibleFile): void {
  if (subjectType === 'L' && permission === 'A') throw invalid('/permission', 'a link lets read or write')
  if (levelOf(permission) > level) throw new Failure('E-AUTH-FORBIDDEN')
  if (file.status === 'D') throw new Failure('E-STATE', { message: 'This file is in the trash.' })
  // Its bytes are here, but the right to give them on is its owner's.
  if (file.isCopy) throw new Failure('E-AUTH-FORBIDDEN')
}

function prepare(deps: GrantDeps, grant: Grant, subjectId: string, { file }: AccessibleFile) {
  const { tenant, caller, fileId, permission, expiresAt } = grant
  const { fileName, contentType, fileTp } = file
  const described = { permission: federatedPermission(permission), expiresAt, fileName, contentType, fileTp }
  return deps.prepareFileShare({ tenant, caller, audienceTag: subjectId as IdTag, fileId, grant: described })
}

function shareOf({ clock }: GrantDeps, grant: Grant, { file }: AccessibleFile): Omit<NewShare, 'refHash'> {
  const { tenant, caller, fileId, subjectType, subjectId, permission, expiresAt } = grant
  return {
    fileId,
    subjectType,
    subjectId,
    permission,
    expiresAt,
    createdBy: caller.idTag,
    createdAt: nowSecs(clock),
    isDerived: !isOwnFile(tenant, caller, file),
  }
}

/** The reference that a link is: a new one, or the one that it was. */
async function linkOf(deps: GrantDeps, tx: Writer, grant: Grant, known: Share | undefined): Promise<string> {
  const { fileId, caller, subjectId, expiresAt } = grant
  const accessLevel = grant.permission === 'R' ? 'read' : 'write'
  if (known?.refHash !== undefined) {
    const change = { accessLevel, expiresAt, createdBy: caller.idTag } as const
    if (await changeReference(deps, tx, known.refHash, change)) return known.refHash
  }
  const { refId } = await makeReference(deps, tx, {
    type: 'share.file',
    description: subjectId,
    createdBy: caller.idTag,
    resourceId: fileId,
    accessLevel,
    count: null,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  })
  return referenceHash(refId)
}
