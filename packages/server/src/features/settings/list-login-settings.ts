import type { SettingName } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'
import type { Settings } from './open-settings.ts'

const loginSettings: readonly SettingName[] = [
  'theme',
  'language',
  'fontSize',
  'notifications',
  'darkMode',
  'privacy.read_receipts',
]

/** The settings that a sign-in answers; the wire has texts alone. Without `language` a client speaks that of its device. */
export async function listLoginSettings(settings: Settings, tenantId: TenantId): Promise<[string, string][]> {
  const hasLanguage = await settings.isSet(tenantId, 'language')
  const names = loginSettings.filter((name) => hasLanguage || name !== 'language')
  return await Promise.all(
    names.map(async (name): Promise<[string, string]> => [name, String(await settings.find(tenantId, name))]),
  )
}
