import type { IdTag, ManagedStatus, Page } from '@kith/protocol'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { type Ask, getManaged, noteSeen } from './find-managed.ts'
import { isProvider, type ManagedIdentity, roleOnIdentity, shownTo } from './managed-identity.ts'
import { listIdentities as listStored, pageIdentities } from './managed-identity-store.ts'

interface ListIdentities {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly email?: string | undefined
  readonly registrarTag?: IdTag | undefined
  readonly ownerTag?: IdTag | undefined
  readonly status?: ManagedStatus | undefined
  readonly q?: string | undefined
  readonly limit: number
  readonly offset?: number | undefined
  /** Empty: the first page by cursor. */
  readonly cursor?: string | undefined
}

/** The identities that the caller registered or owns; all for the provider's owner. */
export async function listIdentities(
  { db }: { readonly db: Database },
  { tenant, caller, limit, offset = 0, cursor, ...filter }: ListIdentities,
): Promise<Page<ManagedIdentity>> {
  const reader = db.reader(tenant.tenantId)
  const visibleTo = isProvider(caller, tenant) ? undefined : caller.idTag
  const page: Page<ManagedIdentity> =
    cursor === undefined
      ? await listStored(reader, { ...filter, visibleTo, offset, limit })
      : await pageIdentities(reader, { ...filter, visibleTo, cursor: cursor || undefined, limit })
  const show = (identity: ManagedIdentity) =>
    shownTo(roleOnIdentity(caller, tenant, identity) ?? 'registrar', identity)
  return { ...page, items: page.items.map(show) }
}

export async function getIdentity(
  deps: { readonly db: Database; readonly clock: Clock },
  ask: Ask,
): Promise<ManagedIdentity> {
  const managed = await getManaged(deps.db.reader(ask.tenant.tenantId), ask)
  await noteSeen(deps, ask.tenant, managed)
  return shownTo(managed.ownRole, managed.identity)
}
