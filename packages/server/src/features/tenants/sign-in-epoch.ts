import type { Reader, Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { SignInEpoch } from './tenant.ts'
import { findEntry } from './tenant-store.ts'

/** The epoch now, from the database: to be read before a sign-in is checked. `E-AUTH-FORBIDDEN` of a suspended tenant. */
export async function getSignInEpoch(reader: Reader): Promise<SignInEpoch> {
  const entry = await findEntry(reader)
  if (!entry) throw new Failure('E-PROFILE-NOTFOUND')
  if (entry.isSuspended) throw new Failure('E-AUTH-FORBIDDEN', { message: 'This account is suspended.' })
  return entry.epoch as SignInEpoch
}

/** Can a sign-in that was checked in this epoch, or at any time when it is absent, still open a session? To be
 * called in the transaction that makes the session. */
export async function isOpenFor(tx: Writer, epoch: SignInEpoch | undefined): Promise<boolean> {
  const entry = await findEntry(tx)
  return entry !== undefined && !entry.isSuspended && (epoch === undefined || epoch === entry.epoch)
}
