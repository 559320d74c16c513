import type { Static } from 'typebox'
import type { Tenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, Reader, TenantId } from '#infra/db/index.ts'
import type { JobContext, Jobs } from '#infra/jobs/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { findAccount } from '../account-store.ts'
import { isSpent, type Reference } from '../references/reference.ts'
import { findReferenceByHash } from '../references/reference-store.ts'
import { accountMailJob } from './account-mail-job.ts'
import { type SendDeps, sendFromJob } from './mail-job.ts'
import { type MailTemplate, mailLanguage } from './mail-texts.ts'
import { mailboxOf } from './mailed-reference.ts'
import { renderMail } from './render-mail.ts'

export interface AccountMailDeps extends SendDeps {
  readonly db: Database
  readonly clock: Clock
  readonly vault: Vault
  readonly tenants: Pick<Tenants, 'findById'>
  /** Where the tenant's pages are: from the configuration, never from a request. */
  serverUrlOf(tenant: Tenant): string
  /** The language the tenant has chosen, if any (BCP 47). */
  findLanguage(tenantId: TenantId): Promise<string | undefined>
}

type Payload = Static<(typeof accountMailJob)['payload']>

/** Has the queue send account mails. */
export function handleAccountMails(jobs: Pick<Jobs, 'handle'>, deps: AccountMailDeps): void {
  jobs.handle(accountMailJob, (payload, context) => sendAccountMail(deps, payload, context))
}

async function sendAccountMail(
  deps: AccountMailDeps,
  payload: Payload,
  { tenantId }: JobContext,
): Promise<void> {
  const { mailId, template, lang, about } = payload
  const tenant = await deps.tenants.findById(tenantId)
  const addressed = tenant && (await addressee(deps, deps.db.reader(tenantId), payload))
  if (!addressed) return
  const { to, reference } = addressed
  const rendered = renderMail(template, mailLanguage(lang ?? (await deps.findLanguage(tenantId))), {
    idTag: tenant.idTag,
    ...(about === undefined ? {} : { about }),
    ...(reference ? { link: linkOf(template, deps.serverUrlOf(tenant), reference.refId) } : {}),
    ...(reference?.expiresAt === undefined ? {} : { untilSecs: reference.expiresAt }),
  })
  await sendFromJob(deps, { to, messageId: `<${mailId}@${tenant.idTag}>`, ...rendered })
}

interface Addressee {
  readonly to: string
  readonly reference?: Reference
}

/** Where the mail goes; undefined when it need not be sent any more. A link goes only to the address that it was made for,
 * as long as it can be used; one for the account itself only while that is the account's address. */
async function addressee(
  { vault, clock }: AccountMailDeps,
  reader: Reader,
  { template, to, refHash }: Payload,
): Promise<Addressee | undefined> {
  const email = (await findAccount(reader))?.email
  if (refHash === undefined) {
    const known = to ?? email
    return known === undefined ? undefined : { to: known }
  }
  const reference = await findReferenceByHash(vault, reader, refHash)
  const mailbox = reference && mailboxOf(reference)
  if (!reference || mailbox === undefined || isSpent(reference, nowSecs(clock))) return undefined
  return template === 'email-change' || mailbox === email ? { to: mailbox, reference } : undefined
}

function linkOf(template: MailTemplate, serverUrl: string, refId: string): string {
  return template === 'email-change' ? confirmationLink(serverUrl, refId) : passwordLink(serverUrl, refId)
}

/** The page that confirms an address. It works without scripts, so the token is in the query; what it gives is no access. */
function confirmationLink(serverUrl: string, refId: string): string {
  return `${serverUrl}/confirm-email?token=${refId}`
}

/** The page where a reference becomes a password. The token is a fragment: it reaches neither logs nor `Referer`. */
export function passwordLink(serverUrl: string, refId: string): string {
  return `${serverUrl}/set-password#token=${refId}`
}
