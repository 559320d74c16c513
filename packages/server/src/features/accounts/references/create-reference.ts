import { type FileId, parseFileId, type ReferenceType } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { assertRecentlySignedIn, assertSessionLives } from '../sessions/personal-caller.ts'
import { type MakeReferenceDeps, makeReference } from './make-reference.ts'
import { isRecovery, labelOf, type Reference, typesMadeElsewhere } from './reference.ts'

export type FindFileAccess = (
  tenant: Tenant,
  caller: Identified,
  fileId: FileId,
) => Promise<'read' | 'write' | undefined>

export interface CreateReferenceDeps extends MakeReferenceDeps {
  readonly db: Database
  /** The caller's own access to a file now; undefined when the caller may not know of it. */
  readonly findFileAccess: FindFileAccess
}

interface CreateReferenceInput {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly ip: string
  readonly type: ReferenceType
  readonly description?: string
  readonly expiresAt?: number
  readonly count?: number | null
  readonly resourceId?: string
  readonly accessLevel?: 'read' | 'write'
}

/** Makes a reference if the caller may: `share.file` with write access to the file, everything else as an
 * administrator of the server. One that recovers an account is worth the account itself, so its owner alone makes it. */
export async function createReference(
  deps: CreateReferenceDeps,
  input: CreateReferenceInput,
): Promise<Reference> {
  const { tenant, caller, ip, type, description, expiresAt, count } = input
  if (typesMadeElsewhere.includes(type)) throw new Failure('E-AUTH-FORBIDDEN')
  if (expiresAt !== undefined && expiresAt <= nowSecs(deps.clock))
    throw invalid('/expiresAt', 'This time has passed.')
  const target = type === 'share.file' ? await checkFile(deps, input) : checkAdmin(deps, input)
  return deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, caller)
    const reference = await makeReference(deps, tx, {
      type,
      count,
      createdBy: caller.idTag,
      ...target,
      ...labelOf(description),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    })
    await audit(deps, tx, {
      event: 'reference.created',
      actorTag: caller.idTag,
      ip,
      details: { type, ...target },
    })
    return reference
  })
}

async function checkFile(
  { findFileAccess }: CreateReferenceDeps,
  { tenant, caller, resourceId, accessLevel = 'read' }: CreateReferenceInput,
) {
  if (resourceId === undefined) throw invalid('/resourceId', 'A reference to a file needs the file.')
  const fileId = parseFileId(resourceId)
  const access = fileId && (await findFileAccess(tenant, caller, fileId))
  if (!access) throw new Failure('E-FILE-NOTFOUND')
  if (access !== 'write') throw new Failure('E-AUTH-FORBIDDEN')
  return { resourceId, accessLevel }
}

function checkAdmin({ clock }: CreateReferenceDeps, { caller, type }: CreateReferenceInput) {
  if (!caller.isAdmin) throw new Failure('E-AUTH-FORBIDDEN')
  if (isRecovery(type)) {
    if (caller.scope !== undefined) throw new Failure('E-AUTH-FORBIDDEN')
    assertRecentlySignedIn({ clock }, caller)
  }
  return {}
}
