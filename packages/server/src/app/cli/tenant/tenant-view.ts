import { toIso } from '@kith/protocol'
import type { HostedTenant } from '#features/tenants/index.ts'

/** A tenant as commands print it in JSON. */
export function tenantView(tenant: HostedTenant) {
  const { idTag, type, isBase, createdAt, ownerTag, appDomain, suspendedAt, underWay } = tenant
  return {
    idTag,
    type,
    isBase,
    status: suspendedAt === undefined ? 'active' : 'suspended',
    createdAt: toIso(createdAt),
    ...(ownerTag === undefined ? {} : { ownerTag }),
    ...(appDomain === undefined ? {} : { appDomain }),
    ...(underWay === undefined ? {} : { underWay }),
    ...(suspendedAt === undefined ? {} : { suspendedAt: toIso(suspendedAt) }),
  }
}
