import type { IdTag } from '@kith/protocol'
import type { HostedTenant, Tenants } from '#features/tenants/index.ts'

/** The names below which a name lies, the nearest first, without the top-level domain. */
export function namesAbove(name: IdTag): IdTag[] {
  const labels = name.split('.')
  return labels.slice(1, -1).map((_, from) => labels.slice(from + 1).join('.') as IdTag)
}

/** The nearest tenant below whose name another one lies. Below that of the base tenant anybody may live. */
export async function findTenantAbove(
  { tenants, baseIdTag }: { readonly tenants: Pick<Tenants, 'find'>; readonly baseIdTag: IdTag },
  name: IdTag,
): Promise<HostedTenant | undefined> {
  for (const above of namesAbove(name)) {
    const tenant = above === baseIdTag ? undefined : await tenants.find(above)
    if (tenant) return tenant
  }
  return undefined
}
