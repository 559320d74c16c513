import { mailLanguage, renderMail } from '#features/accounts/index.ts'
import type { Settings } from '#features/settings/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { MailError, type Mailer } from '#infra/mail/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { parseMailAddress } from '#lib/mail-address.ts'

export interface TestEmailDeps {
  readonly mailer: Mailer
  readonly settings: Pick<Settings, 'find'>
}

/** Sends a mail now. Throws `E-UNAVAILABLE` with the stage that failed. */
export async function testEmail(
  { mailer, settings }: TestEmailDeps,
  { tenant, to }: { readonly tenant: Tenant; readonly to: string },
): Promise<void> {
  const address = parseMailAddress(to)
  if (address === undefined) throw invalid('/to', 'is not a mail address')
  const language = mailLanguage(await settings.find(tenant.tenantId, 'language'))
  try {
    await mailer.send({ to: address, ...renderMail('test', language, { idTag: tenant.idTag }) })
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    const { stage, message } = error
    throw new Failure('E-UNAVAILABLE', {
      message: 'The mail was not sent.',
      details: { stage, message },
      cause: error,
    })
  }
}
