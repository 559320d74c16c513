import type { AccountEmail } from '@kith/protocol'
import type { Reader } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { invalid } from '#lib/failure.ts'
import { parseMailAddress } from '#lib/mail-address.ts'
import type { Account } from '../account-store.ts'
import { mailboxOf } from '../mails/mailed-reference.ts'
import { findLiveReference } from '../references/reference-store.ts'

/** An address as it is stored; `E-VALIDATION` for what a mail library could read as something else. */
export function acceptAddress(text: string): string {
  const address = parseMailAddress(text)
  if (address === undefined) throw invalid('/email', 'This is no e-mail address.')
  return address
}

/** The address of an account, and the one that waits to be confirmed, for its owner. */
export async function describeEmail(
  { clock }: { readonly clock: Clock },
  reader: Reader,
  account: Pick<Account, 'email' | 'emailVerifiedAt'>,
): Promise<AccountEmail> {
  const { email: address = null, emailVerifiedAt } = account
  const asked = await findLiveReference(reader, 'email-change', nowSecs(clock))
  const pending = asked && mailboxOf(asked)
  return {
    address,
    verified: emailVerifiedAt !== undefined,
    ...(pending !== undefined && asked?.expiresAt !== undefined
      ? { pending: { address: pending, expiresAt: asked.expiresAt } }
      : {}),
  }
}
