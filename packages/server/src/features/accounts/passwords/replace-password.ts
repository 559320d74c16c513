import { auditCommand } from '#features/audit/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { setPassword } from '../account.ts'
import { endForNewPassword } from '../sign-in/end-sign-ins.ts'
import type { SetPasswordDeps } from './set-password.ts'

interface ReplacePasswordInput {
  readonly tenant: Tenant
  /** Checked by `assertAcceptablePassword`. */
  readonly password: string
  /** End API keys and remove passkeys as well; true when absent, as in a reset by reference. */
  readonly signOutEverything?: boolean | undefined
}

/** Sets the password of an account on behalf of the operator, and ends what a reset ends. */
export async function replacePassword(
  deps: SetPasswordDeps,
  { tenant, password, signOutEverything }: ReplacePasswordInput,
): Promise<void> {
  const hash = await deps.passwords.hash(password)
  await deps.db.transact(tenant.tenantId, async (tx) => {
    await setPassword(deps, tx, hash)
    await endForNewPassword(deps, tx, { tenant, isReset: true, signOutEverything })
    await auditCommand(deps, tx, { event: 'password.set' })
  })
}
