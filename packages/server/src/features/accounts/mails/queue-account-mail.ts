import { randomBytes } from 'node:crypto'
import type { ReferenceType } from '@kith/protocol'
import type { Static } from 'typebox'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { findAccount } from '../account-store.ts'
import { type MakeReferenceDeps, makeReference } from '../references/make-reference.ts'
import { referenceHash } from '../references/reference-store.ts'
import { accountMailJob } from './account-mail-job.ts'
import { countMailbox } from './count-mailbox.ts'
import type { MailTemplate } from './mail-texts.ts'
import { mailedTo } from './mailed-reference.ts'

interface QueueDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
  readonly clock: Clock
}

interface AccountMail {
  /** The account's address when absent. */
  readonly to?: string
  /** BCP 47; the tenant's own language when absent. */
  readonly lang?: string | undefined
}

interface Notice extends AccountMail {
  readonly template: MailTemplate
  readonly about?: string
  /** About the server, for its operator: strangers must not be able to use up the mailbox. */
  readonly isOfServer?: true
}

interface MailedReference extends AccountMail {
  readonly type: Exclude<Extract<ReferenceType, MailTemplate>, 'idp-activate'>
  readonly validSecs: number
}

/** What became of a mail. None is sent without an address, nor to a mailbox that has had too many: then `retryAtMs` is
 * when there is room again, in ms since 1970. */
interface Queued {
  readonly isQueued: boolean
  readonly retryAtMs?: number
}

type Payload = Static<(typeof accountMailJob)['payload']>

/** Sends a mail about something that happened to the account of `tx`, in the transaction of what happened. */
export function queueAccountMail(deps: QueueDeps, tx: Writer, notice: Notice): Promise<Queued> {
  return queueWithin(deps, tx, notice, async () => {
    const { template, to, about } = notice
    return { template, ...(to === undefined ? {} : { to }), ...(about === undefined ? {} : { about }) }
  })
}

/** Makes a one-use reference for the account of `tx` and mails it to an address, which it will prove. */
export function mailReference(
  deps: QueueDeps & MakeReferenceDeps,
  tx: Writer,
  { type, validSecs, ...mail }: MailedReference,
): Promise<Queued> {
  return queueWithin(deps, tx, mail, async (address) => {
    const expiresAt = nowSecs(deps.clock) + validSecs
    const { refId } = await makeReference(deps, tx, { type, expiresAt, resourceId: mailedTo(address) })
    return { template: type, refHash: referenceHash(refId) }
  })
}

/** Mails to an address that the account has proved are not counted, so that others cannot use them up. */
async function queueWithin(
  deps: QueueDeps,
  tx: Writer,
  { to, lang, isOfServer }: AccountMail & Pick<Notice, 'isOfServer'>,
  make: (address: string) => Promise<Omit<Payload, 'mailId' | 'lang'>>,
): Promise<Queued> {
  const account = await findAccount(tx)
  const address = to ?? account?.email
  if (address === undefined) return { isQueued: false }
  const isProved = account?.email === address && account.emailVerifiedAt !== undefined
  const retryAtMs = isProved || isOfServer ? undefined : await countMailbox(deps, tx, address)
  if (retryAtMs !== undefined) return { isQueued: false, retryAtMs }
  const mailId = randomBytes(12).toString('hex')
  const payload = { mailId, ...(await make(address)), ...(lang === undefined ? {} : { lang }) }
  await deps.jobs.enqueue(tx, accountMailJob, payload)
  return { isQueued: true }
}

/** `E-RATELIMIT` for a mail whose mailbox has had too many, where whoever asked for it is told. */
export function assertQueued({ clock }: { readonly clock: Clock }, { retryAtMs }: Queued): void {
  if (retryAtMs !== undefined)
    throw new Failure('E-RATELIMIT', { retryAfterSecs: Math.ceil((retryAtMs - clock.now()) / 1000) })
}
