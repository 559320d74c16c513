import { parseRefId } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { findAccount } from '../account-store.ts'
import { mailboxOf } from '../mails/mailed-reference.ts'
import { consumeReference } from '../references/consume-reference.ts'
import { isSpent } from '../references/reference.ts'
import { findReference } from '../references/reference-store.ts'
import type { RevokeDeps } from '../sessions/start-session.ts'
import { endEverything } from '../sign-in/end-sign-ins.ts'
import { type FailedSignInDeps, loggingUnknown } from '../sign-in/log-failed-sign-in.ts'
import { emailDetails, putEmail, type ReplaceEmailDeps } from './replace-email.ts'

export type ConfirmEmailDeps = ReplaceEmailDeps & RevokeDeps & FailedSignInDeps & { readonly db: Database }

export interface ConfirmedEmail {
  readonly email: string
  /** Whether it was the first proof, and everything made before has ended. */
  readonly signedOut: boolean
}

interface LinkVisit {
  readonly tenant: Tenant
  /** As it stands in the link. */
  readonly token: string
}

/** Makes the address to which the token was mailed the account's. Where the account was registered with an address that
 * was never proven, this proof is the first and ends what was made before, as one by a password reference does. */
export function confirmEmail(
  deps: ConfirmEmailDeps,
  visit: LinkVisit & { readonly ip: string },
): Promise<ConfirmedEmail> {
  const { tenant, ip } = visit
  return loggingUnknown(deps, { ip, method: 'reference', tenant }, () => confirm(deps, visit))
}

async function confirm(
  deps: ConfirmEmailDeps,
  { tenant, token, ip }: LinkVisit & { readonly ip: string },
): Promise<ConfirmedEmail> {
  const refId = parseRefId(token)
  const reader = deps.db.reader(tenant.tenantId)
  // Without a transaction for invented tokens.
  if (refId === undefined || !(await findReference(reader, refId))) throw new Failure('E-NOTFOUND')
  return deps.db.transact(tenant.tenantId, async (tx) => {
    const reference = await consumeReference(deps, tx, { refId, types: ['email-change'] })
    const email = mailboxOf(reference)
    const account = await findAccount(tx)
    if (!account || email === undefined) throw new Failure('E-NOTFOUND')
    await putEmail(deps, tx, { email, account })
    const signedOut = account.email !== undefined && account.emailVerifiedAt === undefined
    if (signedOut) await endEverything(deps, tx)
    await audit(deps, tx, { event: 'email.changed', ip, details: emailDetails(email, account) })
    return { email, signedOut }
  })
}

/** What a link to confirm an address would do now. `confirmed`: the address counts already. */
export type EmailLink =
  | { readonly kind: 'open' | 'confirmed'; readonly email: string }
  | { readonly kind: 'spent' | 'unknown' }

/** Looks at a link without using it. */
export async function lookAtEmailLink(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  { tenant, token }: LinkVisit,
): Promise<EmailLink> {
  const refId = parseRefId(token)
  const reader = db.reader(tenant.tenantId)
  const reference = refId && (await findReference(reader, refId))
  const email = reference && mailboxOf(reference)
  if (reference?.type !== 'email-change' || email === undefined) return { kind: 'unknown' }
  if (!isSpent(reference, nowSecs(clock))) return { kind: 'open', email }
  return (await findAccount(reader))?.email === email ? { kind: 'confirmed', email } : { kind: 'spent' }
}
