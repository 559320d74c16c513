import type { ServerChecks } from '@kith/protocol'
import type { Settings } from '#features/settings/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Addresses } from './addresses.ts'
import { examineAddress, notHttps } from './cli/doctor/examine-addresses.ts'
import { findLastBackup } from './last-backup.ts'
import type { Services } from './services.ts'
import { findSmtpUrl } from './settings-mailer.ts'

/** What `kith doctor` finds, as far as a running server can tell it to its administrator. */
export function serverChecksOf(
  { config, dns, egress, signingKeys }: Pick<Services, 'config' | 'dns' | 'egress' | 'signingKeys'>,
  { settings, addresses }: { readonly settings: Settings; readonly addresses: Addresses },
) {
  return {
    async examineAddress({ tenantId, idTag }: Tenant): Promise<ServerChecks['address']> {
      const url = addresses.serverUrl(idTag)
      const publicKeys = (await signingKeys.list(tenantId)).map(({ publicKey }) => publicKey)
      const verdict =
        notHttps(config, url) ?? (await examineAddress({ config, dns, egress }, url, { idTag, publicKeys }))
      return { url, ...verdict }
    },
    async isMailSent(): Promise<boolean> {
      return (config.mail.smtpUrl ?? (await findSmtpUrl(settings))) !== undefined
    },
    findLastBackup: () => findLastBackup(config.dataDir),
  }
}
