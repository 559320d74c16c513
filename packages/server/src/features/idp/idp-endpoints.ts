import * as contracts from '@kith/protocol'
import type { Emit } from '#infra/events/index.ts'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { acceptName } from '#lib/accept-name.ts'
import { activateIdentity } from './activate-identity.ts'
import { changeIdentity, setAddress } from './change-identity.ts'
import { type CreateIdentityDeps, createIdentity } from './create-identity.ts'
import type { ManagedNameEvent } from './events.ts'
import { createKey, getKey, listKeys, removeKey } from './identity-keys.ts'
import { toIdentityView, toKeyView } from './idp-view.ts'
import { getIdentity, listIdentities } from './list-identities.ts'
import { getProviderInfo, isAvailable } from './provider-info.ts'
import { releaseIdentity } from './release-identity.ts'

type IdpDeps = CreateIdentityDeps &
  Parameters<typeof getProviderInfo>[0] & { readonly emit: Emit<ManagedNameEvent> }

export function idpEndpoints(deps: IdpDeps): Endpoint[] {
  return [...publicEndpoints(deps), ...identityEndpoints(deps), ...keyEndpoints(deps)]
}

function publicEndpoints(deps: IdpDeps): Endpoint[] {
  return [
    bind(contracts.getProviderInfo, ({ tenant }) => getProviderInfo(deps, tenant)),
    bind(contracts.checkAvailability, async ({ tenant, caller, query: { idTag } }) => ({
      available: await isAvailable(deps, { tenant, caller, idTag }),
      idTag,
    })),
    bind(contracts.activateIdentity, async ({ tenant, body, ip }) => {
      const { idTag, status, address = null } = await activateIdentity(deps, { tenant, ...body, ip })
      return { idTag, status, address }
    }),
  ]
}

function identityEndpoints(deps: IdpDeps): Endpoint[] {
  return [
    bind(contracts.listManagedIdentities, async ({ tenant, caller, query }) => {
      const { registrarIdTag: registrarTag, ownerIdTag: ownerTag, ...rest } = query
      const page = await listIdentities(deps, { tenant, caller, limit: 20, ...rest, registrarTag, ownerTag })
      return { ...page, items: page.items.map(toIdentityView) }
    }),
    bind(contracts.createManagedIdentity, async ({ tenant, caller, body, ip }) => {
      const { ownerIdTag: ownerTag, createApiKey, apiKeyName, ...rest } = body
      const name = apiKeyName === undefined ? undefined : acceptName(apiKeyName, '/apiKeyName')
      const asked = createApiKey ? { name } : undefined
      const { identity, key } = await createIdentity(deps, {
        tenant,
        caller,
        ip,
        ...rest,
        ownerTag,
        key: asked,
      })
      return { ...toIdentityView(identity), ...(key === undefined ? {} : { apiKey: key }) }
    }),
    bind(contracts.getManagedIdentity, async ({ tenant, caller, params: { id } }) =>
      toIdentityView(await getIdentity(deps, { tenant, caller, id })),
    ),
    bind(contracts.updateManagedIdentity, async ({ tenant, caller, params: { id }, body, ip }) => {
      const { dyndns, status } = body
      const changed = await changeIdentity(deps, { tenant, caller, id, ip, isDynamic: dyndns, status })
      return { idTag: changed.idTag, dyndns: changed.isDynamic, status: changed.status }
    }),
    bind(contracts.setIdentityAddress, async ({ tenant, caller, params: { id }, body, ip }) => {
      const { address: wanted, autoAddress: isAutomatic = false } = body
      const changed = await setAddress(deps, { tenant, caller, id, ip, address: wanted, isAutomatic })
      const { idTag, address, addressUpdatedAt, status } = changed
      return { idTag, address, addressUpdatedAt, status }
    }),
    bind(contracts.deleteManagedIdentity, async ({ tenant, caller, params: { id }, ip }) => ({
      deleted: true as const,
      idTag: await releaseIdentity(deps, { tenant, caller, id, ip }),
    })),
  ]
}

function keyEndpoints(deps: IdpDeps): Endpoint[] {
  return [
    bind(contracts.createIdentityKey, async ({ tenant, caller, body = {}, ip }) => {
      const { key, plaintext } = await createKey(deps, { tenant, caller, ip, ...body })
      return { apiKey: toKeyView(key), plaintextKey: plaintext }
    }),
    bind(contracts.listIdentityKeys, async ({ tenant, caller, query }) => {
      const page = await listKeys(deps, { tenant, caller, limit: 20, offset: 0, ...query })
      return { ...page, items: page.items.map(toKeyView) }
    }),
    bind(contracts.getIdentityKey, async ({ tenant, caller, params: { id } }) =>
      toKeyView(await getKey(deps, { tenant, caller, id })),
    ),
    bind(contracts.deleteIdentityKey, async ({ tenant, caller, params: { id }, query: { idTag }, ip }) => ({
      deleted: true as const,
      id: await removeKey(deps, { tenant, caller, id, idTag, ip }),
    })),
  ]
}
