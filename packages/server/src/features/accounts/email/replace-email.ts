import { audit, auditAtBase } from '#features/audit/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type Account, findAccount, updateEmail } from '../account-store.ts'
import { queueAccountMail } from '../mails/queue-account-mail.ts'
import { exhaustReferences } from '../references/reference-store.ts'
import { accountReferences } from '../sign-in/end-sign-ins.ts'
import { acceptAddress } from './email-address.ts'

export interface ReplaceEmailDeps {
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'enqueue'>
}

/** Makes the address the account's from now on. What was mailed to the former one is worth nothing any more, and its
 * reader is told. */
export async function putEmail(
  deps: ReplaceEmailDeps,
  tx: Writer,
  { email, account }: { readonly email: string; readonly account: Account },
): Promise<void> {
  // Before the change: as long as it is the account's address, mails to it are not counted.
  if (account.email !== undefined && account.email !== email)
    await queueAccountMail(deps, tx, { template: 'email-changed', to: account.email })
  await updateEmail(tx, { email, verifiedAt: nowSecs(deps.clock) })
  await exhaustReferences(tx, accountReferences)
}

/** What the audit trail says of a change. */
export function emailDetails(email: string, { email: former }: Account) {
  return { email, ...(former === undefined ? {} : { former }) }
}

/** Sets the address of an account on behalf of the operator, who answers for it: it counts at once. */
export async function replaceEmail(
  deps: ReplaceEmailDeps & { readonly db: Database },
  { tenant, email: text }: { readonly tenant: Tenant; readonly email: string },
): Promise<{ readonly email: string; readonly former?: string }> {
  const email = acceptAddress(text)
  return deps.db.transact(tenant.tenantId, async (tx) => {
    const account = await findAccount(tx)
    if (!account)
      throw new Failure('E-STATE', { message: `${tenant.idTag} is a community: it has no e-mail address.` })
    await putEmail(deps, tx, { email, account })
    const details = emailDetails(email, account)
    const by = 'command line'
    await audit(deps, tx, { event: 'email.changed', details: { ...details, by } })
    // Without the addresses, which go with the tenant.
    await auditAtBase(deps, tx, { event: 'email.changed', details: { by } })
    return details
  })
}
