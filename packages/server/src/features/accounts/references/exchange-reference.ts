import { type AccessGrant, type FileId, type IdTag, parseFileId, type RefId } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, unauthenticated } from '#lib/failure.ts'
import { type IssueDeps, issueToken } from '../sessions/issue-token.ts'
import type { TokenLifetimes } from '../sessions/session.ts'
import { findSession } from '../sessions/session-store.ts'
import { type Device, startSession } from '../sessions/start-session.ts'
import { consumeReference } from './consume-reference.ts'
import type { Reference } from './reference.ts'
import { findReference, referenceSid } from './reference-store.ts'

export interface ExchangeReferenceDeps extends IssueDeps {
  readonly db: Database
  findLifetimes(tenantId: TenantId): Promise<TokenLifetimes>
  /** The maker's access to the file now: a reference grants nothing unless its maker may write. */
  findMakersFileAccess(tenant: Tenant, makerTag: IdTag, fileId: FileId): Promise<'read' | 'write' | undefined>
}

interface Input {
  readonly tenant: Tenant
  readonly refId: RefId
  readonly device: Device
}

type Grant = { readonly fileId: FileId; readonly level: 'read' | 'write' }

/** Gives a guest a token for the file of a reference, and uses the reference up by one. */
export async function exchangeReference(deps: ExchangeReferenceDeps, input: Input): Promise<AccessGrant> {
  const { db } = deps
  const { tenant, refId, device } = input
  const reference = await findReference(db.reader(tenant.tenantId), refId)
  if (!reference) throw new Failure('E-NOTFOUND')
  const grant = await grantOf(deps, tenant, reference)
  await db.transact(tenant.tenantId, async (tx) => {
    await consumeReference(deps, tx, { refId, types: ['share.file'] })
    // One session for all guests of a reference: when it is deleted, all their tokens end.
    const { expiresAt } = reference
    await startSession(deps, tx, { sid: referenceSid(refId), method: 'reference', device, expiresAt })
  })
  return issue(deps, { tenant, reference, grant })
}

/** A fresh token for a guest who has one of this reference, without using it up. */
export async function renewReference(
  deps: ExchangeReferenceDeps,
  { tenant, refId, caller }: { tenant: Tenant; refId: RefId; caller: Caller },
): Promise<AccessGrant> {
  if (caller.kind !== 'reference' || caller.refId !== refId)
    throw unauthenticated(caller.kind === 'guest' ? 'missing' : 'scope')
  const reader = deps.db.reader(tenant.tenantId)
  const reference = await findReference(reader, refId)
  if (!reference || !(await findSession(reader, referenceSid(refId)))) throw new Failure('E-NOTFOUND')
  if (reference.expiresAt !== undefined && reference.expiresAt <= nowSecs(deps.clock))
    throw new Failure('E-GONE')
  return issue(deps, { tenant, reference, grant: await grantOf(deps, tenant, reference) })
}

/** What the reference gives now. `E-GONE` when its maker may no longer write. */
async function grantOf(
  { findMakersFileAccess }: ExchangeReferenceDeps,
  tenant: Tenant,
  { type, resourceId, createdBy, accessLevel = 'read' }: Reference,
): Promise<Grant> {
  if (type !== 'share.file') throw new Failure('E-AUTH-FORBIDDEN')
  const fileId = resourceId === undefined ? undefined : parseFileId(resourceId)
  const makers = fileId && createdBy && (await findMakersFileAccess(tenant, createdBy, fileId))
  if (!fileId || makers !== 'write') throw new Failure('E-GONE')
  return { fileId, level: accessLevel }
}

async function issue(
  deps: ExchangeReferenceDeps,
  { tenant, reference, grant }: { tenant: Tenant; reference: Reference; grant: Grant },
): Promise<AccessGrant> {
  const { referenceSecs } = await deps.findLifetimes(tenant.tenantId)
  const issued = await issueToken(deps, tenant, {
    use: 'ref',
    sid: referenceSid(reference.refId),
    refId: reference.refId,
    scope: [grant],
    roles: [],
    lifeSecs: referenceSecs,
    notAfter: [reference.expiresAt],
  })
  return { ...issued, accessLevel: grant.level, resourceId: grant.fileId }
}
