import { isIP } from 'node:net'
import type { IdTag } from '@kith/protocol'
import type { ProxySites } from '#features/proxy/index.ts'
import { whereAddressesLead } from '#features/registration/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { type DnsResolver, registrableDomain } from '#infra/dns/index.ts'

interface NameDeps {
  readonly tenants: Pick<Tenants, 'list'>
  /** Where a tenant is reached; undefined where the server does not serve it. */
  findServerUrl(idTag: IdTag): string | undefined
  readonly sites: Pick<ProxySites, 'refresh' | 'list'>
}

const pageSize = 500

/** The names for which this server needs certificates: hosts and app domains of tenants, and active proxy sites. */
export async function listCertifiedNames({
  tenants,
  findServerUrl,
  sites,
}: NameDeps): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (let after: TenantId | undefined = serverTenant; after !== undefined; ) {
    const page = await tenants.list({ after, limit: pageSize })
    for (const { idTag, appDomain, suspendedAt } of page) {
      const url = findServerUrl(idTag)
      if (url === undefined || suspendedAt !== undefined) continue
      names.add(new URL(url).hostname)
      if (appDomain !== undefined) names.add(appDomain)
    }
    after = page.length < pageSize ? undefined : page.at(-1)?.tenantId
  }
  await sites.refresh()
  for (const { domain } of sites.list()) names.add(domain)
  return new Set([...names].filter(canBeCertified))
}

/** Authorities issue none for addresses and for names that only this machine knows. */
function canBeCertified(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) === 0 && name.includes('.') && !name.endsWith('.localhost')
}

/** The registered domain of a name, by which authorities limit. */
export function zoneOf(name: string): Promise<string> {
  return registrableDomain(name as IdTag)
}

/** Where a name leads. Without addresses of its own that it knows, every address may be this server's. */
export async function whereNameLeads(
  { dns, localAddresses }: { readonly dns: DnsResolver; readonly localAddresses: readonly string[] },
  name: string,
): Promise<'here' | 'elsewhere' | 'unknown'> {
  if (localAddresses.length > 0) return await whereAddressesLead({ dns, localAddresses }, name)
  const { kind } = await dns.resolveAddresses(name)
  if (kind === 'unreachable') return 'unknown'
  return kind === 'found' ? 'here' : 'elsewhere'
}
