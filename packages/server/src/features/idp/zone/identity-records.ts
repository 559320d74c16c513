import { isIP } from 'node:net'
import type { IdTag } from '@kith/protocol'
import type { RecordData, ResourceRecord } from '#infra/dns-server/index.ts'

/** The DNS record data of an identity. */
export interface ResolvedIdentity {
  readonly idTag: IdTag
  readonly address: string
  readonly isDynamic: boolean
}

export const usualTtl = 3600
const dynamicTtl = 60

export function ttlOf({ isDynamic }: Pick<ResolvedIdentity, 'isDynamic'>): number {
  return isDynamic ? dynamicTtl : usualTtl
}

/** The record for the address of a server, which is an IP address or the name of a host. */
export function addressRecord(address: string): RecordData {
  const family = isIP(address)
  if (family === 0) return { type: 'CNAME', data: address }
  return { type: family === 4 ? 'A' : 'AAAA', data: address }
}

/** The addresses of a server; an alias only when there is no IP address, since CNAME excludes other records. */
export function addressRecords(addresses: readonly string[]): RecordData[] {
  const records = addresses.map(addressRecord)
  const ofAddresses = records.filter(({ type }) => type !== 'CNAME')
  return ofAddresses.length > 0 ? ofAddresses : records.slice(0, 1)
}

/** The record of docs/protocol/discovery.md, The record. */
export function serverRecord(serverUrl: string): RecordData {
  return { type: 'TXT', data: `v=1 server=${serverUrl}` }
}

export function withName(name: string, ttl: number, records: readonly RecordData[]): ResourceRecord[] {
  return records.map((record) => ({ ...record, name, ttl }))
}
