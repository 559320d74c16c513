import type { Reader } from '#infra/db/index.ts'
import { findAccount } from '../account-store.ts'
import { listPasskeys } from '../passkeys/passkey-store.ts'

/** Does the owner of the reader's tenant have a password or a passkey? */
export async function hasSignInMethod(reader: Reader): Promise<boolean> {
  const account = await findAccount(reader)
  return account?.passwordHash !== undefined || (await listPasskeys(reader)).length > 0
}
