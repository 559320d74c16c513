import { audit } from '#features/audit/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { Failure } from '#lib/failure.ts'
import { setPassword } from '../account.ts'
import { findAccount } from '../account-store.ts'
import { queueAccountMail } from '../mails/queue-account-mail.ts'
import { assertSessionLives } from '../sessions/personal-caller.ts'
import { signInBuckets } from '../sign-in/attempt-buckets.ts'
import { countAttempt, forgiveAttempt } from '../sign-in/count-attempt.ts'
import { endOwnSessions } from '../sign-in/end-sign-ins.ts'
import { assertAcceptablePassword } from './password.ts'
import type { SetPasswordDeps } from './set-password.ts'

export interface ChangePasswordDeps extends SetPasswordDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

interface ChangePasswordInput {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly currentPassword: string
  readonly newPassword: string
  readonly ip: string
}

/** Replaces the password and ends every session, this one included. A wrong present password counts like a wrong
 * sign-in: a stolen token must not help to guess it. */
export async function changePassword(deps: ChangePasswordDeps, input: ChangePasswordInput): Promise<void> {
  const { tenant, caller, currentPassword, newPassword, ip } = input
  assertAcceptablePassword(newPassword, '/newPassword')
  const place = `session ${caller.sessionId}`
  const buckets = signInBuckets(tenant.tenantId, serverTenant, { idTag: tenant.idTag, place, isKnown: true })
  await countAttempt(deps, buckets)
  const account = await findAccount(deps.db.reader(tenant.tenantId))
  const { isRight } = await deps.passwords.check(currentPassword, account?.passwordHash)
  if (!isRight) throw new Failure('E-AUTH-BADCRED')
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
