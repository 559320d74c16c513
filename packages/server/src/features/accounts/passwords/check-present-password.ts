import type { Identified, Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type Account, findAccount } from '../account-store.ts'
import { type AttemptBucket, signInBuckets } from '../sign-in/attempt-buckets.ts'
import { countAttempt } from '../sign-in/count-attempt.ts'
import { type FailedSignInDeps, logFailedSignIn } from '../sign-in/log-failed-sign-in.ts'
import type { PasswordHasher } from './password-hasher.ts'

interface Checked {
  readonly account: Account | undefined
  /** For `forgiveAttempt`, in the transaction of what the password was asked for. */
  readonly buckets: readonly AttemptBucket[]
}

/** Checks the password of a caller who is signed in; `E-AUTH-BADCRED` when it is wrong. A wrong one counts like a wrong
 * sign-in: a stolen token must not help to guess it. */
export async function checkPresentPassword(
  deps: FailedSignInDeps & {
    readonly db: Database
    readonly clock: Clock
    readonly passwords: PasswordHasher
  },
  { tenant, caller, password, ip }: { tenant: Tenant; caller: Identified; password: string; ip: string },
): Promise<Checked> {
  const place = `session ${caller.sessionId}`
  const buckets = signInBuckets(tenant.tenantId, serverTenant, { idTag: tenant.idTag, place, isKnown: true })
  await countAttempt(deps, buckets)
  const account = await findAccount(deps.db.reader(tenant.tenantId))
  const { isRight } = await deps.passwords.check(password, account?.passwordHash)
  if (!isRight) {
    logFailedSignIn(deps, { ip, method: 'password', tenant, idTag: caller.idTag })
    throw new Failure('E-AUTH-BADCRED')
  }
  return { account, buckets }
}
