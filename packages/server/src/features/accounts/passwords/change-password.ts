import { audit } from '#features/audit/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { Failure } from '#lib/failure.ts'
import { setPassword } from '../account.ts'
import { findAccount } from '../account-store.ts'
import { queueAccountMail } from '../mails/queue-account-mail.ts'
import { assertSessionLives } from '../sessions/personal-caller.ts'
import { forgiveAttempt } from '../sign-in/count-attempt.ts'
import { endOwnSessions } from '../sign-in/end-sign-ins.ts'
import type { FailedSignInDeps } from '../sign-in/log-failed-sign-in.ts'
import { checkPresentPassword } from './check-present-password.ts'
import { assertAcceptablePassword } from './password.ts'
import type { SetPasswordDeps } from './set-password.ts'

export interface ChangePasswordDeps extends SetPasswordDeps, FailedSignInDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

interface ChangePasswordInput {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly currentPassword: string
  readonly newPassword: string
  readonly ip: string
}

/** Replaces the password and ends every session, this one included. */
export async function changePassword(deps: ChangePasswordDeps, input: ChangePasswordInput): Promise<void> {
  const { tenant, caller, currentPassword, newPassword, ip } = input
  assertAcceptablePassword(newPassword, '/newPassword')
  const { account, buckets } = await checkPresentPassword(deps, {
    tenant,
    caller,
    password: currentPassword,
    ip,
  })
  const hash = await deps.passwords.hash(newPassword)
  await deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, caller)
    // Two changes at once: the second was allowed by a password that is no longer the present one.
    if ((await findAccount(tx))?.passwordHash !== account?.passwordHash) throw new Failure('E-AUTH-BADCRED')
    await forgiveAttempt(tx, buckets)
    await setPassword(deps, tx, hash)
    await endOwnSessions(deps, tx, tenant)
    await queueAccountMail(deps, tx, { template: 'password-changed' })
    await audit(deps, tx, { event: 'password.changed', actorTag: caller.idTag, ip })
  })
}
