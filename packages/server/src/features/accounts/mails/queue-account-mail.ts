import { randomBytes } from 'node:crypto'
import type { ReferenceType } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { findAccount } from '../account-store.ts'
import { type MakeReferenceDeps, makeReference } from '../references/make-reference.ts'
import { referenceHash } from '../references/reference-store.ts'
import { accountMailJob } from './account-mail-job.ts'
import type { MailTemplate } from './mail-texts.ts'
import { mailedTo } from './mailed-reference.ts'

interface QueueDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

export interface MailedReference {
  readonly type: Exclude<Extract<ReferenceType, MailTemplate>, 'idp-activate' | 'email-change'>
  readonly validSecs: number
  /** BCP 47; the tenant's own language when absent. */
  readonly lang?: string | undefined
}

/** Sends a mail about something that happened to the account of `tx`, in the transaction of what happened: to `to`, else
 * to the mailbox of the reference, else to the account's address. Without an address nothing is sent. */
export async function queueAccountMail(
  { jobs }: QueueDeps,
  tx: Writer,
  mail: {
    readonly template: MailTemplate
    readonly to?: string
    readonly refHash?: string
    readonly lang?: string | undefined
    readonly about?: string
  },
): Promise<void> {
  const { template, to, refHash, lang, about } = mail
  await jobs.enqueue(tx, accountMailJob, {
    mailId: randomBytes(12).toString('hex'),
    template,
    ...(to === undefined ? {} : { to }),
    ...(refHash === undefined ? {} : { refHash }),
    ...(lang === undefined ? {} : { lang }),
    ...(about === undefined ? {} : { about }),
  })
}

/** Makes a one-use reference for the account of `tx` and mails it to the account's address, which it will prove. False
 * when the account has none. */
export async function mailReference(
  deps: QueueDeps & MakeReferenceDeps,
  tx: Writer,
  { type, validSecs, lang }: MailedReference,
): Promise<boolean> {
  const account = await findAccount(tx)
  if (account?.email === undefined) return false
  const expiresAt = nowSecs(deps.clock) + validSecs
  const resourceId = mailedTo(account.email)
  const { refId } = await makeReference(deps, tx, { type, expiresAt, resourceId })
  await queueAccountMail(deps, tx, { template: type, refHash: referenceHash(refId), lang })
  return true
}
