import type { RecordType, ResourceRecord } from './message/records.ts'
import type { ResponseContent } from './message/response.ts'
import type { TransferKey } from './message/tsig.ts'

export interface Question {
  /** In lower case, without the dot at the end. */
  readonly name: string
  /** Undefined for a type that no zone has. */
  readonly type: RecordType | undefined
}

/** The zones of a name server: answers, and transfers to secondaries. */
export interface Zones {
  answer(question: Question): Promise<ResponseContent>
  findTransferPolicy(): Promise<TransferPolicy>
  /** Undefined unless the name is the top of a zone. */
  openTransfer(zone: string): Promise<ZoneTransfer | undefined>
  /** Each call of what it answers lists the zones that have changed since the call before; the first lists all. */
  watchChanges(): () => Promise<readonly string[]>
}

export interface TransferPolicy {
  /** Networks of the secondaries. */
  readonly networks: readonly string[]
  /** The secondaries that are told of changes. */
  readonly notified: readonly SecondaryAddress[]
  /** The key that transfers must be signed with; undefined: no signature is needed. */
  readonly key: TransferKey | undefined
}

export interface SecondaryAddress {
  /** An IP address. */
  readonly host: string
  readonly port: number
}

export interface ZoneTransfer {
  readonly soa: ResourceRecord
  /** Everything in the zone but its SOA record, in portions. */
  readonly records: AsyncIterable<readonly ResourceRecord[]>
}
