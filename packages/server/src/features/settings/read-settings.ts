import type { SettingView } from '@kith/protocol'
import { hasRole, type Identified, type Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { definitions, settingNames } from './definitions.ts'
import type { Settings } from './open-settings.ts'
import { getKnownName } from './setting.ts'
import type { SettingDefinition } from './setting-definition.ts'
import { findStoredSetting, listFreeSettings } from './setting-store.ts'

interface ReadSettingsDeps {
  readonly db: Database
  readonly settings: Settings
}

interface Reading {
  readonly tenant: Tenant
  readonly caller: Identified
}

/** Every setting that the caller may read: all defined ones, then those under free names. */
export async function listSettings(
  { db, settings }: ReadSettingsDeps,
  { tenant, caller }: Reading,
): Promise<SettingView[]> {
  const reader = db.reader(tenant.tenantId)
  const readable = settingNames.filter((name) => isReadable(definitions[name], caller))
  const defined = readable.map(
    async (name): Promise<SettingView> => [name, await settings.find(tenant.tenantId, name)],
  )
  const free = isTenantsOwn(caller) ? await listFreeSettings(reader) : []
  return [...(await Promise.all(defined)), ...free.map(({ name, text }): SettingView => [name, parse(text)])]
}

/** One setting. `E-NOTFOUND` for an unknown name and for a free one without a value. */
export async function getSetting(
  { db, settings }: ReadSettingsDeps,
  { tenant, caller, name }: Reading & { name: string },
): Promise<SettingView> {
  const known = getKnownName(name)
  if (known.kind === 'defined') {
    if (known.definition.isSecret)
      throw new Failure('E-AUTH-FORBIDDEN', { message: 'This setting can be set, but not read.' })
    if (!isReadable(known.definition, caller)) throw new Failure('E-AUTH-FORBIDDEN')
    return [name, await settings.find(tenant.tenantId, known.name)]
  }
  if (!isTenantsOwn(caller)) throw new Failure('E-AUTH-FORBIDDEN')
  const stored = await findStoredSetting(db.reader(tenant.tenantId), name)
  if (!stored) throw new Failure('E-NOTFOUND', { message: 'This setting has no value.' })
  return [name, parse(stored.text)]
}

function isReadable({ isSecret, isAdminOnly, scope }: SettingDefinition, caller: Identified): boolean {
  if (isSecret || (isAdminOnly && !caller.isAdmin)) return false
  return scope === 'global' || isTenantsOwn(caller)
}

/** An appointed administrator may not read the base tenant's own settings. */
export function isTenantsOwn(caller: Identified): boolean {
  return hasRole(caller, 'leader')
}

function parse(text: string | undefined): unknown {
  return JSON.parse(text ?? 'null')
}
