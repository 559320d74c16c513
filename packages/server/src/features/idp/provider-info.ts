import type { IdTag, ProviderInfo } from '@kith/protocol'
import { labelsBelow } from '#features/registration/index.ts'
import { type Caller, idTagOf, type Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { invalid } from '#lib/failure.ts'
import { isProvider } from './managed-identity.ts'
import { findObjection, isQuarantinedName, type ProviderNamesDeps } from './provider-names.ts'

/** What a provider says of itself (the settings `idp.*`); empty where it says nothing. */
interface ProviderTexts {
  readonly name: string
  readonly info: string
  readonly url: string
}

export async function getProviderInfo(
  { findWords }: { findWords(tenantId: TenantId): Promise<ProviderTexts> },
  { tenantId, idTag }: Tenant,
): Promise<ProviderInfo> {
  const { name, info, url } = await findWords(tenantId)
  return { domain: idTag, name: name || idTag, info, ...(url === '' ? {} : { url }) }
}

/** Is a name available now? Taken, reserved and released ones are answered alike. `E-VALIDATION` outside of the domain. */
export async function isAvailable(
  deps: ProviderNamesDeps,
  { tenant, caller, idTag }: { readonly tenant: Tenant; readonly caller: Caller; readonly idTag: IdTag },
): Promise<boolean> {
  if (idTag !== tenant.idTag && !labelsBelow(idTag, tenant.idTag))
    throw invalid('/query/idTag', `This provider gives names below ${tenant.idTag}.`)
  if (await findObjection(deps, { tenant, idTag })) return false
  return !(await isQuarantinedName(deps, deps.db.reader(tenant.tenantId), {
    idTag,
    callerTag: idTagOf(caller),
    isProvider: caller.kind === 'identity' && isProvider(caller, tenant),
  }))
}
