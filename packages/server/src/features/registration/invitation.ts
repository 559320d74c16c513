import { parseRefId, type RefId } from '@kith/protocol'
import { findReference, isSpent, type Reference } from '#features/accounts/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'

/** The registration page. The token is a fragment: it reaches neither logs nor `Referer`. */
export function invitationLink(serverUrl: string, refId: RefId): string {
  return `${serverUrl}/register#token=${refId}`
}

/** An invitation that can be used now; the reader is the base tenant's. `E-NOTFOUND` when it is none for this purpose,
 * `E-GONE` when it is used up or has expired. */
export async function getInvitation(
  { clock }: { readonly clock: Clock },
  reader: Reader,
  { token, isFor }: { readonly token: string; readonly isFor: 'person' | 'community' },
): Promise<Reference> {
  const refId = parseRefId(token)
  const reference = refId && (await findReference(reader, refId))
  // One with a resource is for making a community.
  const isNone = reference?.type !== 'invite' || (isFor === 'person' && reference.resourceId !== undefined)
  if (!reference || isNone) throw new Failure('E-NOTFOUND', { message: 'This invitation is not known here.' })
  if (isSpent(reference, nowSecs(clock)))
    throw new Failure('E-GONE', { message: 'This invitation is used up or has expired.' })
  return reference
}
