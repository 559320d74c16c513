import type { IdTag } from '@kith/protocol'
import { askDns } from '#features/federation/index.ts'
import type { DnsAnswer, DnsResolver } from '#infra/dns/index.ts'

export interface DnsCheckDeps {
  readonly dns: Omit<DnsResolver, 'resolveSerial'>
  /** `DISCOVERY_NAME`. */
  readonly discoveryName: string
  /** `IDENTITY_HOSTS`: server URLs by identity, asked before the DNS. */
  readonly identityHosts: ReadonlyMap<IdTag, string>
  /** `LOCAL_ADDRESSES`: IP addresses and names of this server. */
  readonly localAddresses: readonly string[]
  readonly allowPlainHttp: boolean
  /** The addresses under which a record may name this server for an identity. */
  serverUrls(idTag: IdTag): readonly string[]
}

/** Does the DNS of a name lead to this server (docs/protocol/profiles.md)? The operator's list or a record that
 * names a server decides; without them, the addresses do. */
export async function whereDnsLeads(
  deps: DnsCheckDeps,
  name: IdTag,
): Promise<'here' | 'elsewhere' | 'unknown'> {
  const isHere = (server: string) => deps.serverUrls(name).includes(server)
  const listed = deps.identityHosts.get(name)
  if (listed !== undefined) return isHere(listed) ? 'here' : 'elsewhere'
  const verdict = await askDns(deps, name)
  if (verdict.kind === 'unreachable') return 'unknown'
  if (verdict.kind === 'server') return isHere(verdict.server) ? 'here' : 'elsewhere'
  if (verdict.kind === 'ambiguous' || deps.localAddresses.length === 0) return 'elsewhere'
  return await whereAddressesLead(deps, name)
}

/** Do the addresses of a name lead to one of this server's? */
export async function whereAddressesLead(
  { dns, localAddresses }: Pick<DnsCheckDeps, 'dns' | 'localAddresses'>,
  name: string,
): Promise<'here' | 'elsewhere' | 'unknown'> {
  const hosts = localAddresses.filter((address) => !isAddress(address))
  const alias = hosts.length > 0 ? await dns.resolveCname(name) : ({ kind: 'not-found' } as const)
  if (recordsOf(alias).some((target) => hosts.includes(target.toLowerCase().replace(/\.$/, ''))))
    return 'here'
  const found = await dns.resolveAddresses(name)
  if (found.kind === 'unreachable') return 'unknown'
  const addresses = recordsOf(found).map(canonical)
  if (addresses.length === 0) return 'elsewhere'
  if (localAddresses.some((own) => isAddress(own) && addresses.includes(canonical(own)))) return 'here'
  for (const host of hosts) {
    const own = await dns.resolveAddresses(host)
    if (own.kind === 'unreachable') return 'unknown'
    if (recordsOf(own).some((address) => addresses.includes(canonical(address)))) return 'here'
  }
  return 'elsewhere'
}

function recordsOf(answer: DnsAnswer): readonly string[] {
  return answer.kind === 'found' ? answer.records : []
}

function isAddress(text: string): boolean {
  return text.includes(':') || /^[\d.]+$/.test(text)
}

/** One spelling for each IPv6 address. */
function canonical(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]/`).hostname : address
}
