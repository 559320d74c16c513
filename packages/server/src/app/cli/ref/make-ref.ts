import { type FileId, type IdTag, type ReferenceType, toIso } from '@kith/protocol'
import {
  findAccount,
  makeReference,
  passwordLink,
  type Reference,
  recoveryLifeSecs,
} from '#features/accounts/index.ts'
import { auditCommand } from '#features/audit/index.ts'
import { findFile } from '#features/files/index.ts'
import { invitationLink } from '#features/registration/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { UsageError } from '../command.ts'
import { getHosted, type Program } from '../open-program.ts'

export interface RefRequest {
  readonly type: ReferenceType
  /** The base tenant when absent. */
  readonly idTag?: IdTag
  readonly count: number | null
  readonly expiresAt?: number
  /** From now on, in place of `expiresAt`. */
  readonly validSecs?: number
  readonly target?: { readonly resourceId: FileId; readonly accessLevel: 'read' | 'write' }
}

const passwordTypes: readonly ReferenceType[] = ['password-reset', 'welcome', 'email-verify']

/** Does its link set the password of an account that exists? */
export function setsPassword(type: ReferenceType): boolean {
  return passwordTypes.includes(type)
}

/** Makes a reference. `link` is where one that sets a password, or an invitation, is used. */
export async function makeRef(program: Program, { type, count, target, ...request }: RefRequest) {
  const { services, addresses } = program
  const { db, clock } = services
  const tenant = await getHosted(program, request.idTag ?? services.config.baseIdTag)
  const now = nowSecs(clock)
  const expiresAt = request.validSecs === undefined ? request.expiresAt : now + request.validSecs
  if (expiresAt !== undefined && expiresAt <= now) throw new UsageError('--expires has passed already')
  const lifeSecs = recoveryLifeSecs[type]
  if (lifeSecs !== undefined && expiresAt !== undefined && expiresAt > now + lifeSecs)
    throw new UsageError(`${type} ends after ${lifeSecs / 3600} hours at the latest`)
  if (type === 'invite' && !tenant.isBase)
    throw new UsageError(`An invitation is one to ${services.config.baseIdTag}, the base tenant`)
  if (setsPassword(type)) await assertPerson(program, tenant)
  if (target && !(await findFile(db.reader(tenant.tenantId), target.resourceId)))
    throw new Failure('E-FILE-NOTFOUND', { message: `${tenant.idTag} has no file ${target.resourceId}.` })
  const reference = await db.transact(tenant.tenantId, async (tx) => {
    const details = { type, ...target }
    await auditCommand(services, tx, { event: 'reference.created', details })
    return makeReference(services, tx, {
      type,
      count,
      // So that the owner finds it among their own.
      createdBy: tenant.idTag,
      ...target,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    })
  })
  const linkTo = setsPassword(type) ? passwordLink : type === 'invite' ? invitationLink : undefined
  return {
    reference: referenceView(reference, tenant),
    ...(linkTo ? { link: linkTo(addresses.serverUrl(tenant.idTag), reference.refId) } : {}),
  }
}

async function assertPerson({ services }: Program, { idTag, tenantId }: HostedTenant): Promise<void> {
  if (!(await findAccount(services.db.reader(tenantId))))
    throw new Failure('E-STATE', { message: `${idTag} is a community: it has no password.` })
}

function referenceView(reference: Reference, { idTag }: HostedTenant) {
  const { refId, type, count, expiresAt, resourceId, accessLevel } = reference
  return {
    refId,
    type,
    tenant: idTag,
    count,
    ...(expiresAt === undefined ? {} : { expiresAt: toIso(expiresAt) }),
    ...(resourceId === undefined ? {} : { resourceId }),
    ...(accessLevel === undefined ? {} : { accessLevel }),
  }
}
