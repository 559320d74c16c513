import { randomBytes } from 'node:crypto'
import { encodeBase64Url } from '@kith/protocol'
import { optionalTextIn, type TenantId, type TenantRow, type Writer } from '#infra/db/index.ts'
import type { SealedColumn, Vault } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { invalid } from '#lib/failure.ts'
import { parseMailAddress } from '#lib/mail-address.ts'
import { type Account, insertAccount, updateEmailVerified, updatePassword } from './account-store.ts'
import { isUsableHash } from './passwords/password-hasher.ts'

const swKeyPurpose = 'account.service-worker-key'

export const accountsSealed: SealedColumn = {
  table: 'accounts',
  column: 'sw_key_sealed',
  purpose: swKeyPurpose,
  withoutSecret: 'fresh',
}

interface CreateAccountDeps {
  readonly vault: Vault
  readonly clock: Clock
}

/** Makes the account of the tenant of `tx`, without a password, with its service-worker key. */
export async function createAccount(
  { vault, clock }: CreateAccountDeps,
  tx: Writer,
  { email }: { email?: string } = {},
): Promise<void> {
  await insertAccount(tx, {
    swKeySealed: vault.seal(swKeyPurpose, tx.tenantId, randomBytes(32)),
    createdAt: nowSecs(clock),
    ...(email === undefined ? {} : { email }),
  })
}

/** An account of an archive, as it is here: its e-mail address counts as not proved.
 * `E-VALIDATION` for a password hash that no password could be compared with. */
export function takeAccount(row: TenantRow): TenantRow {
  const hash = optionalTextIn(row, 'password_hash')
  if (hash !== undefined && !isUsableHash(hash))
    throw invalid('/password_hash', 'is none, or costs more than this server pays')
  const email = optionalTextIn(row, 'email')
  if (email !== undefined && parseMailAddress(email) !== email)
    throw invalid('/email', 'is no e-mail address')
  return { ...row, email_verified_at: null }
}

/** The account's key for its service worker: 32 bytes, base64url. */
export function serviceWorkerKey(vault: Vault, tenantId: TenantId, account: Account): string {
  return encodeBase64Url(vault.unseal(swKeyPurpose, tenantId, account.swKeySealed))
}

/** Gives the account of `tx` a password, by its hash. The caller ends the sessions. */
export async function setPassword({ clock }: { clock: Clock }, tx: Writer, hash: string): Promise<void> {
  await updatePassword(tx, { hash, setAt: nowSecs(clock) })
}

/** Notes that the person reads mail at the account's address. */
export async function markEmailVerified({ clock }: { clock: Clock }, tx: Writer): Promise<void> {
  await updateEmailVerified(tx, nowSecs(clock))
}
