import type { RefId } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import { getSignInEpoch } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import { rateKeyOf } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import { markEmailVerified, setPassword } from '../account.ts'
import { type Account, findAccount } from '../account-store.ts'
import { mailboxOf } from '../mails/mailed-reference.ts'
import { consumeReference } from '../references/consume-reference.ts'
import type { Reference } from '../references/reference.ts'
import { findReference } from '../references/reference-store.ts'
import type { RevokeDeps } from '../sessions/start-session.ts'
import { signInTurn } from '../sign-in/attempt-buckets.ts'
import { giveTurn } from '../sign-in/count-attempt.ts'
import { endEverything, endForNewPassword, passwordReferences } from '../sign-in/end-sign-ins.ts'
import { assertAcceptablePassword } from './password.ts'
import type { PasswordHasher } from './password-hasher.ts'

export interface SetPasswordDeps extends RevokeDeps {
  readonly db: Database
  readonly passwords: PasswordHasher
}

interface SetPasswordInput {
  readonly tenant: Tenant
  readonly refId: RefId | undefined
  readonly password: string
  /** End API keys and remove passkeys as well; when absent, if the account had a password. */
  readonly signOutEverything?: boolean | undefined
  readonly ip: string
}

/** Sets the password with a reference instead of the old one, and ends every session of the account. Other references
 * that could set it are worth nothing afterwards. The first proof that the user reads the
 * account's mail removes all that was made before: another person may have registered with the address. */
export async function setPasswordByReference(deps: SetPasswordDeps, input: SetPasswordInput): Promise<void> {
  const { tenant, refId, password, ip } = input
  await getSignInEpoch(deps.db.reader(tenant.tenantId))
  assertAcceptablePassword(password, '/password')
  // Checked before hashing: an invented reference must not cost the server 30 ms of a core.
  if (refId === undefined || !(await findReference(deps.db.reader(tenant.tenantId), refId)))
    throw new Failure('E-NOTFOUND')
  const hash = await deps.passwords.hash(password)
  await deps.db.transact(tenant.tenantId, async (tx) => {
    const reference = await consumeReference(deps, tx, { refId, types: passwordReferences })
    const account = await findAccount(tx)
    if (!account) throw new Failure('E-NOTFOUND')
    await setPassword(deps, tx, hash)
    await end(deps, tx, { input, account, reference })
    // Reading the owner's mail is proof enough: guesses by others must not lock the owner out.
    const turn = signInTurn(tenant.tenantId, { idTag: tenant.idTag, place: rateKeyOf(ip) })
    await giveTurn(tx, turn, deps.clock.now())
    await audit(deps, tx, { event: 'password.set', ip, details: { by: reference.type } })
    await deps.emit(tx, { kind: 'password.set', tenant })
  })
}

async function end(
  deps: SetPasswordDeps,
  tx: Writer,
  {
    input: { tenant, signOutEverything },
    account,
    reference,
  }: { input: SetPasswordInput; account: Account; reference: Reference },
): Promise<void> {
  const provesAddress = account.email !== undefined && mailboxOf(reference) === account.email
  if (provesAddress) await markEmailVerified(deps, tx)
  if (provesAddress && account.emailVerifiedAt === undefined) await endEverything(deps, tx)
  else
    await endForNewPassword(deps, tx, {
      tenant,
      isReset: reference.type === 'password-reset',
      signOutEverything,
    })
}
