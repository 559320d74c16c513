import { mailLanguage, renderMail } from '#features/accounts/index.ts'
import { auditActor } from '#features/audit/index.ts'
import type { Settings } from '#features/settings/index.ts'
import type { Database } from '#infra/db/index.ts'
import { MailError, type Mailer } from '#infra/mail/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { parseMailAddress } from '#lib/mail-address.ts'
import type { ByAdmin } from './change-identity.ts'

export interface TestEmailDeps {
  readonly db: Database
  readonly clock: Clock
  readonly mailer: Mailer
  readonly settings: Pick<Settings, 'find'>
}

/** Sends a mail now. Throws `E-UNAVAILABLE` with the stage that failed. */
export async function testEmail(
  deps: TestEmailDeps,
  { to, ...by }: ByAdmin & { readonly to: string },
): Promise<void> {
  const { mailer, settings } = deps
  const { tenant } = by
  const address = parseMailAddress(to)
  if (address === undefined) throw invalid('/to', 'is not a mail address')
  const language = mailLanguage(await settings.find(tenant.tenantId, 'language'))
  const note = (details: { readonly stage?: string } = {}) =>
    deps.db.transact(tenant.tenantId, (tx) =>
      auditActor(deps, tx, { actor: by, event: 'mail.tested', details }),
    )
  try {
    await mailer.send({ to: address, ...renderMail('test', language, { idTag: tenant.idTag }) })
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    const { stage, message } = error
    await note({ stage })
    throw new Failure('E-UNAVAILABLE', {
      message: 'The mail was not sent.',
      details: { stage, message },
      cause: error,
    })
  }
  await note()
}
