import type { AccountEmail } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { findAccount } from '../account-store.ts'
import { assertQueued, mailReference, queueAccountMail } from '../mails/queue-account-mail.ts'
import type { ChangePasswordDeps } from '../passwords/change-password.ts'
import { checkPresentPassword } from '../passwords/check-present-password.ts'
import { type MailDeps, whenMailHasRoom } from '../passwords/mail-within-limits.ts'
import { exhaustReferences } from '../references/reference-store.ts'
import { assertRecentlySignedIn, assertSessionLives } from '../sessions/personal-caller.ts'
import { forgiveAttempt } from '../sign-in/count-attempt.ts'
import { acceptAddress, describeEmail } from './email-address.ts'

export type ChangeEmailDeps = ChangePasswordDeps & MailDeps

interface ChangeEmailInput {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly email: string
  /** The present password, where the sign-in is not recent. */
  readonly password?: string | undefined
  readonly lang?: string | undefined
  readonly ip: string
}

const validSecs = 24 * 3600

/** Mails a link to the address that is to be the account's, and a notice to the one that is. The new one counts once
 * the link was used. A request for the address that counts already takes an earlier one back. */
export async function changeEmail(deps: ChangeEmailDeps, input: ChangeEmailInput): Promise<AccountEmail> {
  const { tenant, caller } = input
  const email = acceptAddress(input.email)
  const buckets = await proveCaller(deps, input)
  const reader = deps.db.reader(tenant.tenantId)
  const present = await findAccount(reader)
  const isWithdrawal = present?.email === email && present.emailVerifiedAt !== undefined
  // Also when the change is refused, the password was right.
  await deps.db.transact(tenant.tenantId, (tx) => forgiveAttempt(tx, buckets))
  if (!isWithdrawal) await assertRoom(deps, reader)
  return deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, caller)
    const account = await findAccount(tx)
    if (!account) throw new Failure('E-STATE', { message: 'A community has no e-mail address.' })
    await exhaustReferences(tx, ['email-change'])
    if (!isWithdrawal) await ask(deps, tx, { ...input, email, former: account.email })
    return describeEmail(deps, tx, account)
  })
}

async function proveCaller(deps: ChangeEmailDeps, { tenant, caller, password, ip }: ChangeEmailInput) {
  if (password !== undefined)
    return (await checkPresentPassword(deps, { tenant, caller, password, ip })).buckets
  assertRecentlySignedIn(deps, caller)
  return []
}

async function assertRoom({ clock }: ChangeEmailDeps, reader: Reader): Promise<void> {
  const retryAfterSecs = (await whenMailHasRoom(reader, 'email-change')) - nowSecs(clock)
  if (retryAfterSecs > 0) throw new Failure('E-RATELIMIT', { retryAfterSecs })
}

async function ask(
  deps: ChangeEmailDeps,
  tx: Writer,
  { caller, email, former, lang, ip }: ChangeEmailInput & { readonly former: string | undefined },
): Promise<void> {
  await assertRoom(deps, tx)
  assertQueued(deps, await mailReference(deps, tx, { type: 'email-change', validSecs, to: email, lang }))
  if (former !== undefined && former !== email)
    await queueAccountMail(deps, tx, { template: 'email-changing', to: former, lang })
  await audit(deps, tx, { event: 'email.change-requested', actorTag: caller.idTag, ip, details: { email } })
}
