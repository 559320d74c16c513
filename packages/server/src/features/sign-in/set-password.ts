import type { RefId } from '@kith/protocol'
import { mailedTo } from '#features/account-mails/index.ts'
import {
  assertAcceptablePassword,
  findAccount,
  markEmailVerified,
  type PasswordHasher,
  setPassword,
} from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import { consumeReference, exhaustReferences, findReference } from '#features/references/index.ts'
import { personalMethods, type RevokeDeps, revokeSessions } from '#features/sessions/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import { rateKeyOf } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import { signInTurn } from './attempt-buckets.ts'
import { getActiveTenant } from './complete-login.ts'
import { giveTurn } from './count-attempt.ts'

export interface SetPasswordDeps extends RevokeDeps {
  readonly db: Database
  readonly tenants: Pick<Tenants, 'findById'>
  readonly passwords: PasswordHasher
  /** Told, after the commit, that the owner of a tenant has set a password with a reference. */
  onPasswordSet(tenant: Tenant): void
}

/** The references with which a password can be set. */
export const passwordReferences = ['password-reset', 'welcome', 'email-verify'] as const

/** Sets the password with a reference instead of the old one, and ends every session of the account. Other references
 * that could set it are worth nothing afterwards. */
export async function setPasswordByReference(
  deps: SetPasswordDeps,
  input: { tenant: Tenant; refId: RefId | undefined; password: string; ip: string },
): Promise<void> {
  const { tenant, refId, password, ip } = input
  await getActiveTenant(deps, tenant)
  assertAcceptablePassword(password, '/password')
  // Looked at before the hash is made: a made-up reference must not cost the server 30 ms of a core.
  if (refId === undefined || !(await findReference(deps.db.reader(tenant.tenantId), refId)))
    throw new Failure('E-NOTFOUND')
  const hash = await deps.passwords.hash(password)
  await deps.db.transact(tenant.tenantId, async (tx) => {
    const reference = await consumeReference(deps, tx, { refId, types: passwordReferences })
    const account = await findAccount(tx)
    if (!account) throw new Failure('E-NOTFOUND')
    await setPassword(deps, tx, hash)
    if (account.email !== undefined && reference.resourceId === mailedTo(account.email))
      await markEmailVerified(deps, tx)
    await exhaustReferences(tx, passwordReferences)
    await endSessions(deps, tx, tenant)
    // Whoever reads the owner's mail is not kept from the account by those who guess at it.
    const turn = signInTurn(tenant.tenantId, { idTag: tenant.idTag, place: rateKeyOf(ip) })
    await giveTurn(tx, turn, deps.clock.now())
    await audit(deps, tx, { event: 'password.set', ip, details: { by: reference.type } })
    tx.afterCommit(() => deps.onPasswordSet(tenant))
  })
}

/** Ends every session of the tenant's owner; API keys are no sessions. */
export async function endSessions(deps: RevokeDeps, tx: Writer, tenant: Tenant): Promise<void> {
  await revokeSessions(deps, tx, { callerTag: tenant.idTag, methods: personalMethods })
}
