import type { Settings } from '#features/settings/index.ts'
import type { HostedTenant, Tenants } from '#features/tenants/index.ts'

interface ProvidersDeps {
  readonly tenants: Pick<Tenants, 'list'>
  readonly settings: Pick<Settings, 'findNow'>
}

const pageSize = 500

/** The tenants of this server that give names to others, in order of creation and in pages. */
export async function* pageProviders({ tenants, settings }: ProvidersDeps): AsyncGenerator<HostedTenant[]> {
  for (let last: HostedTenant | undefined; ; ) {
    const page = await tenants.list({ limit: pageSize, ...(last && { after: last.tenantId }) })
    yield await onlyProviders({ settings }, page)
    last = page.at(-1)
    if (page.length < pageSize) return
  }
}

/** Those of some tenants that are. */
export async function onlyProviders(
  { settings }: Pick<ProvidersDeps, 'settings'>,
  tenants: readonly HostedTenant[],
): Promise<HostedTenant[]> {
  const active = tenants.filter(({ suspendedAt }) => suspendedAt === undefined)
  const giving = await settings.findNow(
    active.map(({ tenantId }) => tenantId),
    'idp.enabled',
  )
  return active.filter(({ tenantId }) => giving.get(tenantId))
}
