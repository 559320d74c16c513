import { parseRefId, type RefId } from '@kith/protocol'
import {
  type FailedSignInDeps,
  findReference,
  isSpent,
  loggingUnknown,
  type Reference,
} from '#features/accounts/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import type { Database } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'

/** The registration page. The token is a fragment: it reaches neither logs nor `Referer`. */
export function invitationLink(serverUrl: string, refId: RefId): string {
  return `${serverUrl}/register#token=${refId}`
}

interface PresentedInvitation {
  readonly token: string
  readonly isFor: 'person' | 'community'
  /** The address of the client that presents it. */
  readonly ip: string
}

/** An invitation of the base tenant that can be used now. `E-NOTFOUND` when it is none for this purpose, which is logged
 * like a wrong password; `E-GONE` when it is used up or has expired. */
export async function getInvitation(
  deps: FailedSignInDeps & { readonly clock: Clock; readonly db: Database },
  base: HostedTenant,
  { token, isFor, ip }: PresentedInvitation,
): Promise<Reference> {
  const reference = await loggingUnknown(deps, { ip, method: 'reference', tenant: base }, async () => {
    const refId = parseRefId(token)
    const found = refId && (await findReference(deps.db.reader(base.tenantId), refId))
    // One with a resource is for making a community.
    const isNone = found?.type !== 'invite' || (isFor === 'person' && found.resourceId !== undefined)
    if (!found || isNone) throw new Failure('E-NOTFOUND', { message: 'This invitation is not known here.' })
    return found
  })
  if (isSpent(reference, nowSecs(deps.clock)))
    throw new Failure('E-GONE', { message: 'This invitation is used up or has expired.' })
  return reference
}
