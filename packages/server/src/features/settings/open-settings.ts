import { type SettingName, type SettingValue, settingDefinitions } from '@kith/protocol'
import { type Database, type Reader, serverTenant, type TenantId } from '#infra/db/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import type { Clock } from '#lib/clock.ts'
import { RecentReads } from '#lib/recent-reads.ts'
import { openValue } from './sealed-value.ts'
import { fits } from './setting.ts'
import { findDefinition } from './setting-names.ts'
import { listDefinedSettings, listSettingOf } from './setting-store.ts'

export interface SettingsDeps {
  readonly db: Database
  readonly vault: Vault
  readonly clock: Clock
}

/** The values of settings that hold: the tenant's, else the global one, else the default. They come from memory and may
 * be 5 s old after another process changed one. */
export interface Settings {
  find<Name extends SettingName>(tenantId: TenantId, name: Name): Promise<SettingValue<Name>>
  /** The same for the tenant of a handle, which inside a transaction must be the transaction's. */
  findWith<Name extends SettingName>(reader: Reader, name: Name): Promise<SettingValue<Name>>
  /** The same for many tenants at once, as the database has it now. */
  findNow<Name extends SettingName>(
    tenantIds: readonly TenantId[],
    name: Name,
  ): Promise<ReadonlyMap<TenantId, SettingValue<Name>>>
  /** Whether a value is set, for the tenant or for all: without one the default holds. */
  isSet(tenantId: TenantId, name: SettingName): Promise<boolean>
  /** Drops what is in memory: for those who change a value, after the commit. */
  forget(): void
}

// 5 s bound how long another process's change goes unseen here.
const freshMs = 5_000
// One entry holds the few values that differ from their defaults, less than 1 kB as a rule: some 5 MB.
const maxEntries = 5_000

type Values = ReadonlyMap<string, unknown>

export function openSettings(deps: SettingsDeps): Settings {
  const { db, clock } = deps
  const recent = new RecentReads<TenantId, Values>({ clock, maxEntries, freshMs })
  const valuesOf = (reader: Reader) => recent.read(reader.tenantId, () => loadValues(deps, reader))

  async function findWith<Name extends SettingName>(reader: Reader, name: Name): Promise<SettingValue<Name>> {
    const values = await valuesOf(reader)
    return values.has(name) ? (values.get(name) as SettingValue<Name>) : settingDefinitions[name].default
  }

  return {
    find: (tenantId, name) => findWith(db.reader(tenantId), name),
    findWith,
    findNow: (tenantIds, name) => findNow(deps, tenantIds, name),
    isSet: async (tenantId, name) => (await valuesOf(db.reader(tenantId))).has(name),
    forget: () => recent.forgetAll(),
  }
}

async function findNow<Name extends SettingName>(
  { db, vault }: SettingsDeps,
  tenantIds: readonly TenantId[],
  name: Name,
): Promise<ReadonlyMap<TenantId, SettingValue<Name>>> {
  const values = new Map<TenantId, SettingValue<Name>>()
  for (const { tenantId, setting } of await listSettingOf(db.reader(serverTenant), name, tenantIds)) {
    const value: unknown = JSON.parse(openValue(vault, tenantId, setting))
    if (fits(name, value)) values.set(tenantId, value as SettingValue<Name>)
  }
  const usual = values.get(serverTenant) ?? (settingDefinitions[name].default as SettingValue<Name>)
  return new Map(tenantIds.map((tenantId) => [tenantId, values.get(tenantId) ?? usual]))
}

/** Every value that is set for a tenant or for all; a tenant's own wins. */
async function loadValues({ vault }: Pick<SettingsDeps, 'vault'>, reader: Reader): Promise<Values> {
  const values = new Map<string, unknown>()
  const stored = await listDefinedSettings(reader)
  // The server's own number is the least: what the tenant says comes later and wins.
  for (const { tenantId, setting } of stored.sort((a, b) => a.tenantId - b.tenantId)) {
    // A setting may have left the table, or changed its type: then the default holds.
    if (!findDefinition(setting.name)) continue
    const value: unknown = JSON.parse(openValue(vault, tenantId, setting))
    if (fits(setting.name as SettingName, value)) values.set(setting.name, value)
  }
  return values
}
