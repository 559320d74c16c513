import { setPassword } from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { endOwnSessions } from './end-sign-ins.ts'
import type { SetPasswordDeps } from './set-password.ts'

/** Sets the password of an account because whoever runs the server says so, and ends every session of it. The password
 * has been found acceptable. */
export async function replacePassword(
  deps: Omit<SetPasswordDeps, 'onPasswordSet'>,
  { tenant, password }: { readonly tenant: Tenant; readonly password: string },
): Promise<void> {
  const hash = await deps.passwords.hash(password)
  await deps.db.transact(tenant.tenantId, async (tx) => {
    await setPassword(deps, tx, hash)
    await endOwnSessions(deps, tx, tenant)
    await audit(deps, tx, { event: 'password.set', details: { by: 'command line' } })
  })
}
