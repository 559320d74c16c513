import type { IdTag } from '@kith/protocol'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { Tenants } from './open-tenants.ts'
import type { HostedTenant } from './tenant.ts'
import { findTenantByHost, insertTenant } from './tenant-store.ts'

export interface CreateTenantDeps {
  readonly tenants: Tenants
  readonly keys: Pick<SigningKeys, 'create'>
  readonly clock: Clock
  /** Does somebody else's site answer on this host? */
  isProxied(reader: Reader, host: string): Promise<boolean>
  /** Writes the new tenant's own profile; `tx` is bound to it. */
  createOwnProfile(tx: Writer, profile: Pick<NewTenant, 'idTag' | 'name' | 'type'>): Promise<void>
}

export interface NewTenant {
  readonly idTag: IdTag
  readonly type: HostedTenant['type']
  readonly name: string
  readonly appDomain?: string
  readonly ownerTag?: IdTag
  readonly isBase?: boolean
}

/** Makes a tenant with its first signing key and its own profile. `E-PROFILE-EXISTS` when one of its names is taken. */
export async function createTenant(
  deps: CreateTenantDeps,
  tx: Writer,
  { idTag, type, name, appDomain, ownerTag, isBase = false }: NewTenant,
): Promise<HostedTenant> {
  for (const host of [idTag, appDomain])
    if (host !== undefined && ((await findTenantByHost(tx, host)) || (await deps.isProxied(tx, host))))
      throw new Failure('E-PROFILE-EXISTS')
  const row = {
    idTag,
    type,
    isBase,
    createdAt: nowSecs(deps.clock),
    ...(appDomain === undefined ? {} : { appDomain }),
    ...(ownerTag === undefined ? {} : { ownerTag }),
  }
  const tenantId = await insertTenant(tx, row, row.createdAt)
  if (tenantId === undefined) throw new Failure('E-PROFILE-EXISTS')
  const own = tx.as(tenantId)
  await deps.keys.create(own)
  await deps.createOwnProfile(own, { idTag, name, type })
  tx.afterCommit(() => deps.tenants.forget())
  return { tenantId, ...row }
}
