import { isIP } from 'node:net'
import type { Settings } from '#features/settings/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { RecordData, SecondaryAddress, TransferPolicy } from '#infra/dns-server/index.ts'
import { addressRecords } from './identity-records.ts'

interface NameServer {
  readonly host: string
  readonly addresses: readonly string[]
}

/** The settings that all zones depend on. */
export interface ZoneSettings {
  readonly nameServers: readonly NameServer[]
  /** The mail address of the hostmaster in the form of SOA records. */
  readonly mailbox: string
  readonly caa: readonly RecordData[]
}

/** The settings as they are for a zone. */
export async function findZoneSettings(
  settings: Pick<Settings, 'find'>,
  zone: string,
  ownAddresses: readonly string[],
): Promise<ZoneSettings> {
  const [servers, hostmaster, caa] = await Promise.all([
    settings.find(serverTenant, 'dns.name_servers'),
    settings.find(serverTenant, 'dns.hostmaster'),
    settings.find(serverTenant, 'dns.caa'),
  ])
  return {
    nameServers: servers.length > 0 ? named(servers, zone, ownAddresses) : usual(zone, ownAddresses),
    mailbox: mailboxOf(hostmaster || `hostmaster@${zone}`),
    caa: caa.map(parseCaa),
  }
}

/** The names of the server and of its name servers, where it has some. */
export async function listOwnHosts(
  settings: Pick<Settings, 'find'>,
  ownAddresses: readonly string[],
): Promise<readonly string[]> {
  const servers = await settings.find(serverTenant, 'dns.name_servers')
  return [...ownAddresses, ...servers.map((text) => text.replace(/ .*/, ''))]
}

/** A host that is listed twice has the addresses of both. One in the zone without addresses has the server's own: without any
 * it would not be found. */
function named(texts: readonly string[], zone: string, ownAddresses: readonly string[]): NameServer[] {
  const byHost = new Map<string, string[]>()
  for (const text of texts) {
    const [host = '', ...addresses] = text.split(' ')
    byHost.set(host, [...(byHost.get(host) ?? []), ...addresses])
  }
  return [...byHost].map(([host, addresses]) => {
    const isUnfound = addresses.length === 0 && (host === zone || host.endsWith(`.${zone}`))
    return { host, addresses: isUnfound ? ownAddresses : [...new Set(addresses)] }
  })
}

/** A server that is only known by a name goes by that: a name server may not be an alias. */
function usual(zone: string, ownAddresses: readonly string[]): NameServer[] {
  const names = ownAddresses.filter((address) => isIP(address) === 0)
  return names.length > 0 && names.length === ownAddresses.length
    ? names.map((host) => ({ host, addresses: [] }))
    : [{ host: `ns1.${zone}`, addresses: ownAddresses }]
}

/** A mail address as SOA records have it: dots before the `@` are escaped (RFC 1035 section 8). */
function mailboxOf(address: string): string {
  const [local = '', host = ''] = address.toLowerCase().split('@')
  return `${local.replaceAll('.', '\\046')}.${host}`
}

/** The records of a zone's own name, but for the SOA record. A name server that has this name has its addresses. */
export function apexRecords(
  { nameServers, caa }: ZoneSettings,
  zone: string,
  ownAddresses: readonly string[],
): RecordData[] {
  const servers = nameServers.map(({ host }) => ({ type: 'NS', data: host }) as const)
  const addresses = nameServers.find(({ host }) => host === zone)?.addresses ?? ownAddresses
  return [...servers, ...caa, ...nameServerRecords({ host: zone, addresses })]
}

/** The addresses of a name server; NS records may not lead to an alias. */
export function nameServerRecords({ addresses }: NameServer): RecordData[] {
  return addressRecords(addresses.filter((address) => isIP(address) !== 0))
}

function parseCaa(text: string): RecordData {
  const [flags = '', tag = '', ...value] = text.split(' ')
  return {
    type: 'CAA',
    data: { flags: Number(flags), tag, value: value.join(' ').replace(/^"(.*)"$/, '$1') },
  }
}

export async function findTransferPolicy(settings: Pick<Settings, 'find'>): Promise<TransferPolicy> {
  const [networks, notified, text] = await Promise.all([
    settings.find(serverTenant, 'dns.transfer_networks'),
    settings.find(serverTenant, 'dns.notify'),
    settings.find(serverTenant, 'dns.transfer_key'),
  ])
  const [, name, secret] = text.split(':')
  const key = name && secret ? { name, secret: Buffer.from(secret, 'base64') } : undefined
  return { networks, notified: secondariesOf(notified, networks), key }
}

/** The secondaries that are told of changes, as the database has it now. */
export async function listSecondaries(settings: Pick<Settings, 'findNow'>): Promise<SecondaryAddress[]> {
  const [notified, networks] = await Promise.all([
    settings.findNow([serverTenant], 'dns.notify'),
    settings.findNow([serverTenant], 'dns.transfer_networks'),
  ])
  return secondariesOf(notified.get(serverTenant) ?? [], networks.get(serverTenant) ?? [])
}

function secondariesOf(notified: readonly string[], networks: readonly string[]): SecondaryAddress[] {
  return (notified.length > 0 ? notified : networks).flatMap(secondaryAddress)
}

/** Nothing for a network of several addresses. */
function secondaryAddress(text: string): SecondaryAddress[] {
  const [host = '', port = '53'] = text.replace(/(?<=\.\d+)\/32$|\/128$/, '').split('@')
  const isAddress = isIP(host) !== 0 && Number(port) <= 65_535
  return isAddress ? [{ host, port: Number(port) }] : []
}
