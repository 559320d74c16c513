import type { IdTag } from '@kith/protocol'
import { invitationOf } from '#features/communities/index.ts'
import type { HostedTenant, Tenants } from '#features/tenants/index.ts'
import {
  changeRowsWith,
  type Database,
  deleteRowsWith,
  type RowMatch,
  serverTenant,
  type TenantId,
  type Writer,
} from '#infra/db/index.ts'

/** A column with identities in the rows of a tenant, and what happens to it when one of these identities is deleted. */
interface NamingColumn {
  readonly table: string
  readonly column: string
  /** Only these rows. */
  readonly only?: RowMatch
  /** The stored form of an identity, where that is not its name. */
  readonly form?: (idTag: IdTag) => string
  /** `row`: the row is deleted. `to tenant`: the tenant's name takes its place. `to nobody`: the column becomes null. `out
   * of reach`: the name stays readable, in a form that no identity can have. */
  readonly fate: 'row' | 'to tenant' | 'to nobody' | 'out of reach'
}

/** The columns in which the name of an identity gives it rights. Other columns are history, or about the tenant itself. */
export const namingColumns: readonly NamingColumn[] = [
  { table: 'server_admins', column: 'id_tag', fate: 'row' },
  { table: 'tenants', column: 'owner_tag', fate: 'to nobody' },
  { table: 'relations', column: 'id_tag', fate: 'row' },
  { table: 'link_invitations', column: 'guest_tag', fate: 'row' },
  { table: 'sessions', column: 'caller_tag', fate: 'row' },
  { table: 'push_subscriptions', column: 'subscriber_tag', fate: 'row' },
  { table: 'shares', column: 'subject_id', only: { subject_type: 'U' }, fate: 'row' },
  { table: 'refs', column: 'created_by', fate: 'row' },
  { table: 'refs', column: 'resource_id', form: invitationOf, fate: 'row' },
  { table: 'collection_items', column: 'id_tag', fate: 'row' },
  { table: 'files', column: 'owner_tag', only: { is_copy: 0 }, fate: 'to tenant' },
  { table: 'uploads', column: 'creator_tag', fate: 'to tenant' },
  { table: 'managed_identities', column: 'registrar_tag', fate: 'to tenant' },
  { table: 'managed_identities', column: 'owner_tag', fate: 'to nobody' },
  { table: 'released_identities', column: 'registrar_tag', fate: 'to nobody' },
  { table: 'actions', column: 'author_tag', fate: 'out of reach' },
]

// Concurrent transactions share a commit.
const tenantsAtOnce = 50

/** Removes all rights of a name at the other tenants: its next owner is another person. One transaction for each tenant;
 * after an interruption it can be run again. */
export async function forgetIdentity(
  { db, tenants }: { readonly db: Database; readonly tenants: Pick<Tenants, 'list'> },
  idTag: IdTag,
): Promise<void> {
  let after: TenantId = serverTenant
  while (true) {
    const page = await tenants.list({ after, limit: tenantsAtOnce })
    const others = page.filter((tenant) => tenant.idTag !== idTag)
    await Promise.all(
      others.map((tenant) => db.transact(tenant.tenantId, (tx) => forgetAt(tx, tenant, idTag))),
    )
    const last = page.at(-1)
    if (!last || page.length < tenantsAtOnce) return
    after = last.tenantId
  }
}

/** The same for a name that an identity provider has taken back, unless a tenant of this server has it: that one keeps
 * its rights, whatever the provider says. */
export async function forgetFreeName(
  deps: { readonly db: Database; readonly tenants: Pick<Tenants, 'find' | 'list'> },
  idTag: IdTag,
): Promise<void> {
  if (!(await deps.tenants.find(idTag))) await forgetIdentity(deps, idTag)
}

async function forgetAt(tx: Writer, tenant: HostedTenant, idTag: IdTag): Promise<void> {
  for (const { table, column, only, form, fate } of namingColumns) {
    const match = { ...only, [column]: form ? form(idTag) : idTag }
    if (fate === 'row') await deleteRowsWith(tx, table, match)
    else await changeRowsWith(tx, table, { match, set: { [column]: standIn(fate, tenant, idTag) } })
  }
}

function standIn(fate: Exclude<NamingColumn['fate'], 'row'>, tenant: HostedTenant, idTag: IdTag) {
  if (fate === 'to tenant') return tenant.idTag
  // No label begins with a hyphen.
  return fate === 'out of reach' ? `-${idTag}` : null
}
