import type { IdTag } from '@kith/protocol'
import { endSignInEpoch } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { deleteChallenges, removePasskeys } from '../passkeys/passkey-store.ts'
import { deleteQrSessions } from '../qr/qr-store.ts'
import { exhaustReferences, removeReferences } from '../references/reference-store.ts'
import { personalMethods } from '../sessions/session.ts'
import { type RevokeDeps, revokeSessions } from '../sessions/start-session.ts'

/** The references with which a password can be set. */
export const passwordReferences = ['password-reset', 'welcome', 'email-verify'] as const

/** The references with which the account can be had: by a password, or by an address to which one is mailed. */
export const accountReferences = [...passwordReferences, 'email-change'] as const

/** Ends the sessions of a tenant's owner and pending sign-ins: those that were checked already, and references that could
 * set the password or the address. API keys are not ended. */
export async function endOwnSessions(deps: RevokeDeps, tx: Writer, { idTag }: Tenant): Promise<void> {
  await endSignInEpoch(tx)
  await exhaustReferences(tx, accountReferences)
  await revokeSessions(deps, tx, { callerTag: idTag, methods: personalMethods })
}

/** Ends all sessions at the tenant of `tx`, visitors' included, and pending sign-ins. API keys, passkeys and links to
 * files stay, but do not work while the tenant is suspended. */
export async function endSignIns(deps: RevokeDeps, tx: Writer): Promise<void> {
  await endSignInEpoch(tx)
  await exhaustReferences(tx, accountReferences)
  await revokeSessions(deps, tx, { methods: [...personalMethods, 'proxy'] })
  await deletePending(tx)
}

/** Ends the sessions of one identity at the tenant of `tx`, or all sessions there. */
export async function endSessions(deps: RevokeDeps, tx: Writer, callerTag?: IdTag): Promise<void> {
  if (callerTag === undefined) await endSignIns(deps, tx)
  else await revokeSessions(deps, tx, { callerTag })
}

interface NewPassword {
  readonly tenant: Tenant
  /** Did the account have a password before? */
  readonly isReset: boolean
  readonly signOutEverything?: boolean | undefined
}

/** Ends the sessions, API keys and passkeys of a tenant's owner. */
async function endOwnCredentials(deps: RevokeDeps, tx: Writer, tenant: Tenant): Promise<void> {
  await endOwnSessions(deps, tx, tenant)
  await revokeSessions(deps, tx, { callerTag: tenant.idTag, methods: ['apikey'] })
  await removePasskeys(tx)
}

/** Ends what a new password ends that was set without the old one. A reset ends API keys and passkeys as well, unless
 * told otherwise: they may have been stolen together with the password. */
export async function endForNewPassword(
  deps: RevokeDeps,
  tx: Writer,
  { tenant, isReset, signOutEverything = isReset }: NewPassword,
): Promise<void> {
  if (signOutEverything) await endOwnCredentials(deps, tx, tenant)
  else await endOwnSessions(deps, tx, tenant)
}

/** Ends all access to the tenant of `tx` that was given before its owner was known. Names that a provider gave to others
 * stay with them. */
export async function endEverything(deps: RevokeDeps, tx: Writer): Promise<void> {
  await endSignInEpoch(tx)
  await exhaustReferences(tx, accountReferences)
  await removeReferences(tx, ['share.file', 'invite'])
  await revokeSessions(deps, tx)
  await removePasskeys(tx)
  await deletePending(tx)
}

async function deletePending(tx: Writer): Promise<void> {
  await deleteQrSessions(tx, Number.MAX_SAFE_INTEGER)
  await deleteChallenges(tx)
}
