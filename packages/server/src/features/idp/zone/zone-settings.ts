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
  const named = servers.map((text) => {
    const [host = '', ...addresses] = text.split(' ')
    return { host, addresses }
  })
  return {
    nameServers: named.length > 0 ? named : [{ host: `ns1.${zone}`, addresses: ownAddresses }],
    mailbox: (hostmaster || `hostmaster@${zone}`).replace('@', '.').toLowerCase(),
    caa: caa.map(parseCaa),
  }
}

/** The addresses of a name server; NS records may not lead to an alias. */
export function nameServerRecords({ addresses }: NameServer): RecordData[] {
  return addressRecords(addresses).filter(({ type }) => type !== 'CNAME')
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
  const secondaries = notified.length > 0 ? notified : networks
  return { networks, notified: secondaries.flatMap(secondaryAddress), key }
}

/** Nothing for a network of several addresses. */
function secondaryAddress(text: string): SecondaryAddress[] {
  const [host = '', port = '53'] = text.replace(/(?<=\.\d+)\/32$|\/128$/, '').split('@')
  const isAddress = isIP(host) !== 0 && Number(port) <= 65_535
  return isAddress ? [{ host, port: Number(port) }] : []
}
