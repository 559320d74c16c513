import type { Settings } from '#features/settings/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { type Mailer, openMailer } from '#infra/mail/index.ts'
import { Secret } from '#lib/secret.ts'
import type { Services } from './services.ts'

/** Sends with the mail server of the settings, where the environment names none. */
export function openSettingsMailer(
  { config, clock, mailer }: Pick<Services, 'config' | 'clock' | 'mailer'>,
  settings: Settings,
): Mailer {
  if (config.mail.smtpUrl) return mailer
  let latest: { readonly url: string; readonly mailer: Mailer } | undefined
  return {
    async send(mail) {
      const smtpUrl = await findSmtpUrl(settings)
      if (!smtpUrl) return mailer.send(mail)
      const url = smtpUrl.reveal()
      if (latest?.url !== url) latest = { url, mailer: openMailer({ ...config.mail, smtpUrl, clock }) }
      return latest.mailer.send(mail)
    },
  }
}

/** The mail server of the settings, if they name one. */
export async function findSmtpUrl(settings: Settings): Promise<Secret | undefined> {
  const [host, port, username, password] = await Promise.all([
    settings.find(serverTenant, 'email.smtp.host'),
    settings.find(serverTenant, 'email.smtp.port'),
    settings.find(serverTenant, 'email.smtp.username'),
    settings.find(serverTenant, 'email.smtp.password'),
  ])
  if (host === '') return undefined
  const credentials =
    username === '' ? '' : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`
  return new Secret(`${port === 465 ? 'smtps' : 'smtp'}://${credentials}${host}:${port}`)
}
