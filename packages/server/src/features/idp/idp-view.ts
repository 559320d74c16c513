import { type IdentityKeyView, type ManagedIdentityView, toIso } from '@kith/protocol'
import type { IdentityKey } from './identity-key-store.ts'
import type { ManagedIdentity } from './managed-identity.ts'

export function toIdentityView(identity: ManagedIdentity): ManagedIdentityView {
  const { email, address, addressUpdatedAt, lastSeenAt } = identity
  return {
    idTag: identity.idTag,
    registrarIdTag: identity.registrarTag,
    ownerIdTag: identity.ownerTag ?? null,
    status: identity.status,
    createdAt: identity.createdAt,
    updatedAt: identity.updatedAt,
    expiresAt: identity.expiresAt,
    dyndns: identity.isDynamic,
    ...(email === undefined ? {} : { email }),
    ...(address === undefined ? {} : { address }),
    ...(addressUpdatedAt === undefined ? {} : { addressUpdatedAt }),
    ...(lastSeenAt === undefined ? {} : { lastLoginAt: toIso(lastSeenAt) }),
  }
}

export function toKeyView(key: IdentityKey): IdentityKeyView {
  return {
    id: key.keyId,
    idTag: key.idTag,
    keyPrefix: key.prefix,
    createdAt: key.createdAt,
    lastUsedAt: key.lastUsedAt ?? null,
    ...(key.name === undefined ? {} : { name: key.name }),
    ...(key.expiresAt === undefined ? {} : { expiresAt: key.expiresAt }),
  }
}
