import type { TokenLifetimes } from '#features/accounts/index.ts'
import type { StorageLimits } from '#features/files/index.ts'
import type { Settings } from '#features/settings/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'

/** How long the tokens and references of a tenant are valid, from its settings. */
export async function lifetimesOf(settings: Settings, tenantId: TenantId): Promise<TokenLifetimes> {
  const [loginSecs, sessionSecs, accessSecs, referenceSecs, proxySecs] = await Promise.all([
    settings.find(tenantId, 'auth.login_token_secs'),
    settings.find(tenantId, 'auth.session_secs'),
    settings.find(tenantId, 'auth.access_token_secs'),
    settings.find(tenantId, 'auth.reference_token_secs'),
    settings.find(tenantId, 'auth.proxy_token_secs'),
  ])
  return { loginSecs, sessionSecs, accessSecs, referenceSecs, proxySecs }
}

/** What a tenant may store. */
export async function storageLimitsOf(settings: Settings, tenantId: TenantId): Promise<StorageLimits> {
  const [storageGb, fileMb] = await Promise.all([
    settings.find(tenantId, 'limits.max_storage_gb'),
    settings.find(tenantId, 'limits.max_file_mb'),
  ])
  return {
    maxStorageBytes: Math.ceil(storageGb * 1024 ** 3),
    maxFileBytes: Math.ceil(fileMb * 1024 ** 2),
  }
}

/** What files leave free on the disk. */
export async function diskReserveOf(settings: Settings): Promise<number> {
  return (await settings.find(serverTenant, 'limits.disk_reserve_mb')) * 1024 ** 2
}

/** What a provider of names says of itself. */
export async function providerTextsOf(settings: Settings, tenantId: TenantId) {
  const [name, info, url] = await Promise.all([
    settings.find(tenantId, 'idp.name'),
    settings.find(tenantId, 'idp.info'),
    settings.find(tenantId, 'idp.url'),
  ])
  return { name, info, url }
}
