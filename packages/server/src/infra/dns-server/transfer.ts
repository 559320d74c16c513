import type { Query } from './query.ts'
import type { ResourceRecord } from './records.ts'
import { writeResponse } from './response.ts'
import type { ZoneTransfer } from './zones.ts'

// A record has at most 255 bytes of name, 10 of head, and what it says: a message of so many stays below 64 KiB.
const recordsPerMessage = 100
const maxMessageBytes = 65_535

/** The messages of a transfer (RFC 5936): its SOA record first and last. */
export async function* transferMessages(
  query: Query,
  transfer: ZoneTransfer | undefined,
): AsyncGenerator<Buffer> {
  const write = (answers: readonly ResourceRecord[]) =>
    writeResponse(query, { rcode: 'NOERROR', isAuthoritative: true, answers }, maxMessageBytes)
  if (!transfer) {
    yield writeResponse(query, { rcode: 'NOTAUTH' }, maxMessageBytes)
    return
  }
  let waiting: ResourceRecord[] = [transfer.soa]
  for await (const records of transfer.records) {
    for (const record of records) {
      waiting.push(record)
      if (waiting.length < recordsPerMessage) continue
      yield write(waiting)
      waiting = []
    }
  }
  yield write([...waiting, transfer.soa])
}
