import type { Query } from './message/query.ts'
import type { ResourceRecord } from './message/records.ts'
import { writeResponse } from './message/response.ts'
import type { ZoneTransfer } from './zones.ts'

// A record has at most 255 bytes of name, 10 of head, and what it says: a message of so many stays below 64 KiB.
const recordsPerMessage = 100
const maxMessageBytes = 65_535

/** The messages of a transfer (RFC 5936): its SOA record first and last. A client that has this version or a newer one
 * gets the SOA record alone (RFC 1995 section 2). */
export async function* transferMessages(
  query: Query,
  { soa, records: portions }: ZoneTransfer,
): AsyncGenerator<Buffer> {
  const write = (answers: readonly ResourceRecord[]) =>
    writeResponse(query, { rcode: 'NOERROR', isAuthoritative: true, answers }, maxMessageBytes)
  if (soa.type === 'SOA' && query.serial !== undefined && !isNewer(soa.data.serial, query.serial)) {
    yield write([soa])
    return
  }
  let waiting: ResourceRecord[] = [soa]
  for await (const records of portions) {
    for (const record of records) {
      waiting.push(record)
      if (waiting.length < recordsPerMessage) continue
      yield write(waiting)
      waiting = []
    }
  }
  yield write([...waiting, soa])
}

/** Serials go round (RFC 1982). Two that are half a round apart cannot be compared: then the zone is sent. */
function isNewer(serial: number, than: number): boolean {
  const ahead = (serial - than) >>> 0
  return ahead > 0 && ahead <= 0x8000_0000
}
