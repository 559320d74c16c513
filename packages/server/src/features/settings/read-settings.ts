import {
  type SettingDefinition,
  type SettingLevel,
  type SettingView,
  settingDefinitions,
} from '@kith/protocol'
import { hasRole, type Identified, type Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { Settings } from './open-settings.ts'
import { getKnownName } from './setting.ts'
import { settingNames } from './setting-names.ts'
import { findStoredSetting, listFreeSettings } from './setting-store.ts'

interface ReadSettingsDeps {
  readonly db: Database
  readonly settings: Settings
}

interface Reading {
  readonly tenant: Tenant
  readonly caller: Identified
  /** `global`: what holds for tenants without a value of their own. */
  readonly level?: SettingLevel | undefined
}

/** Every setting that the caller may read: all defined ones, then those under free names. */
export async function listSettings(
  { db, settings }: ReadSettingsDeps,
  { tenant, caller, level }: Reading,
): Promise<SettingView[]> {
  const owner = ownerId(tenant, caller, level)
  const readable = settingNames.filter((name) => isReadable(settingDefinitions[name], { caller, level }))
  const defined = readable.map(async (name): Promise<SettingView> => [name, await settings.find(owner, name)])
  const free = level !== 'global' && isTenantsOwn(caller) ? await listFreeSettings(db.reader(owner)) : []
  return [...(await Promise.all(defined)), ...free.map(({ name, text }): SettingView => [name, parse(text)])]
}

/** One setting. `E-NOTFOUND` for an unknown name and for a free one without a value. */
export async function getSetting(
  { db, settings }: ReadSettingsDeps,
  { tenant, caller, level, name }: Reading & { name: string },
): Promise<SettingView> {
  const owner = ownerId(tenant, caller, level)
  const known = getKnownName(name)
  if (known.kind === 'defined') {
    if (known.definition.isSecret)
      throw new Failure('E-AUTH-FORBIDDEN', { message: 'This setting can be set, but not read.' })
    if (!isReadable(known.definition, { caller, level })) throw new Failure('E-AUTH-FORBIDDEN')
    return [name, await settings.find(owner, known.name)]
  }
  if (!isTenantsOwn(caller)) throw new Failure('E-AUTH-FORBIDDEN')
  const stored = await findStoredSetting(db.reader(owner), name)
  if (!stored) throw new Failure('E-NOTFOUND', { message: 'This setting has no value.' })
  return [name, parse(stored.text)]
}

/** Whose values are read. Administrators alone see the server's. */
function ownerId({ tenantId }: Tenant, caller: Identified, level?: SettingLevel): TenantId {
  if (level !== 'global') return tenantId
  if (!caller.isAdmin) throw new Failure('E-AUTH-FORBIDDEN')
  return serverTenant
}

function isReadable(
  { isSecret, isAdminOnly, scope }: SettingDefinition,
  { caller, level }: Pick<Reading, 'caller' | 'level'>,
): boolean {
  if (isSecret || (isAdminOnly && !caller.isAdmin)) return false
  return scope === 'global' || level === 'global' || isTenantsOwn(caller)
}

/** An appointed administrator may not read the base tenant's own settings. */
export function isTenantsOwn(caller: Identified): boolean {
  return hasRole(caller, 'leader')
}

function parse(text: string | undefined): unknown {
  return JSON.parse(text ?? 'null')
}
