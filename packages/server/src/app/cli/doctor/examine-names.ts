import { lookup } from 'node:dns/promises'
import { pageProviders } from '#features/idp/index.ts'
import { openSettings } from '#features/settings/index.ts'
import { openTenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Config, ListenAddress } from '#infra/config/index.ts'
import type { Database } from '#infra/db/index.ts'
import { createDnsResolver, type DnsAnswer, type DnsResolver } from '#infra/dns/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import type { Clock } from '#lib/clock.ts'
import { nearHost, shownAddress } from './examine-ports.ts'
import { examine, type Finding, ok, type Verdict, warning } from './finding.ts'

export interface NamesDeps {
  readonly config: Config
  readonly db: Database
  readonly vault: Vault
  readonly clock: Clock
  /** The DNS as others see it. */
  readonly dns: Pick<DnsResolver, 'resolveTxt'>
}

const mostAsked = 5

/** Whether names of identity providers are answered here, and asked for here. */
export function examineNames(deps: NamesDeps): Promise<Finding>[] {
  const { dnsListen } = deps.config.federation
  const asked = dnsListen.find(({ port }) => port !== 0) ?? dnsListen[0]
  return asked ? [examine('Name server', () => examineZones(deps, asked))] : []
}

async function examineZones(deps: NamesDeps, listen: ListenAddress): Promise<Verdict> {
  const shown = shownAddress(listen)
  if (listen.port === 0) return ok('Each start picks a free port.')
  const zones = (await listZones(deps)).map(({ idTag }) => idTag)
  if (zones.length === 0) return ok('No tenant gives names: every question is refused.')
  const own = createDnsResolver({ servers: [await serverOf(listen)], timeoutMs: 3000 })
  for (const zone of zones) {
    const record = `_${deps.config.federation.discoveryName}.${zone}`
    const here = await own.resolveTxt(record)
    if (here.kind !== 'found')
      return warning(
        `${shown} does not answer for ${zone}.`,
        'Start the server; another program must not have the port (DNS_LISTEN).',
      )
    if (!isSame(here, await deps.dns.resolveTxt(record)))
      return warning(
        `${shown} answers for ${zone}, but the DNS does not lead there.`,
        `Delegate ${zone} to this server, as docs/operations/identity-provider.md says, and let UDP and TCP port 53 through.`,
      )
  }
  return ok(`${shown} answers for ${zones.join(', ')}, and the DNS leads there.`)
}

/** The first of the zones. */
export async function listZones({ db, vault, clock }: Omit<NamesDeps, 'dns'>): Promise<Tenant[]> {
  const found = { tenants: openTenants({ db, clock }), settings: openSettings({ db, vault, clock }) }
  const zones: Tenant[] = []
  for await (const page of pageProviders(found)) {
    zones.push(...page)
    if (zones.length >= mostAsked) break
  }
  return zones.slice(0, mostAsked)
}

function isSame(one: DnsAnswer, other: DnsAnswer): boolean {
  if (one.kind !== 'found' || other.kind !== 'found') return false
  return [...one.records].sort().join('\n') === [...other.records].sort().join('\n')
}

/** The resolver takes no names. */
async function serverOf({ host, port }: ListenAddress): Promise<string> {
  const { address } = await lookup(nearHost(host))
  return shownAddress({ host: address, port })
}
