import type { IdTag } from '@kith/protocol'
import type { Tenants } from '#features/tenants/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'
import type { PublishedIdentity } from './identity.ts'

interface LocalDeps {
  readonly tenants: Pick<Tenants, 'find'>
  readonly keys: Pick<SigningKeys, 'list'>
  serverUrl(idTag: IdTag): string
  inboxUrl(idTag: IdTag): string
}

/** Describes the tenants of this server as it describes them to other servers. */
export function localIdentities({ tenants, keys, serverUrl, inboxUrl }: LocalDeps) {
  return async (idTag: IdTag): Promise<PublishedIdentity | undefined> => {
    const tenant = await tenants.find(idTag)
    if (!tenant) return undefined
    return {
      idTag,
      type: tenant.type,
      serverUrl: serverUrl(idTag),
      inboxUrl: inboxUrl(idTag),
      keys: await keys.list(tenant.tenantId),
    }
  }
}
