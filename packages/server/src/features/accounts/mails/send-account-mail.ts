import type { Static } from 'typebox'
import type { Tenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import type { JobContext, Jobs } from '#infra/jobs/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import type { Mailer } from '#infra/mail/index.ts'
import { findAccount } from '../account-store.ts'
import { findReferenceByHash } from '../references/reference-store.ts'
import { accountMailJob } from './account-mail-job.ts'
import { sendFromJob } from './mail-job.ts'
import { mailLanguage } from './mail-texts.ts'
import { mailedTo } from './queue-account-mail.ts'
import { renderMail } from './render-mail.ts'

export interface AccountMailDeps {
  readonly db: Database
  readonly vault: Vault
  readonly mailer: Mailer
  readonly tenants: Pick<Tenants, 'findById'>
  /** Where the tenant's pages are: from the configuration, never from a request. */
  serverUrlOf(tenant: Tenant): string
  /** The language the tenant has chosen, if any (BCP 47). */
  findLanguage(tenantId: TenantId): Promise<string | undefined>
}

/** Has the queue send account mails. */
export function handleAccountMails(jobs: Pick<Jobs, 'handle'>, deps: AccountMailDeps): void {
  jobs.handle(accountMailJob, (payload, context) => sendAccountMail(deps, payload, context))
}

async function sendAccountMail(
  deps: AccountMailDeps,
  payload: Static<(typeof accountMailJob)['payload']>,
  { tenantId }: JobContext,
): Promise<void> {
  const { mailId, template, refHash, lang } = payload
  const reader = deps.db.reader(tenantId)
  const tenant = await deps.tenants.findById(tenantId)
  const account = await findAccount(reader)
  const reference = refHash === undefined ? undefined : await findReferenceByHash(deps.vault, reader, refHash)
  const email = account?.email
  if (!tenant || email === undefined) return
  // A link goes only to the address it was made for, and not at all when it was taken back meanwhile.
  if (refHash !== undefined && reference?.resourceId !== mailedTo(email)) return
  const rendered = renderMail(template, mailLanguage(lang ?? (await deps.findLanguage(tenantId))), {
    idTag: tenant.idTag,
    ...(reference ? { link: passwordLink(deps.serverUrlOf(tenant), reference.refId) } : {}),
    ...(reference?.expiresAt === undefined ? {} : { untilSecs: reference.expiresAt }),
  })
  const messageId = `<${mailId}@${tenant.idTag}>`
  await sendFromJob(deps.mailer, { to: email, messageId, ...rendered })
}

/** The page where a reference becomes a password. The token is a fragment: it reaches neither logs nor `Referer`. */
export function passwordLink(serverUrl: string, refId: string): string {
  return `${serverUrl}/set-password#token=${refId}`
}
