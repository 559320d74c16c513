import type { RecordData, ResourceRecord } from './records.ts'

// What a character string of a TXT record holds (RFC 1035 section 3.3).
const longestString = 255

/** A record as a line of a zone file (RFC 1035 section 5). */
export function recordText(record: ResourceRecord): string {
  return `${record.name}. ${record.ttl} IN ${record.type} ${dataText(record)}`
}

function dataText(record: RecordData): string {
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return record.data
    case 'NS':
    case 'CNAME':
      return `${record.data}.`
    case 'TXT':
      return stringsOf(Buffer.from(record.data)).join(' ')
    case 'CAA':
      return `${record.data.flags} ${record.data.tag} ${quoted(Buffer.from(record.data.value))}`
    case 'SOA': {
      const { primary, mailbox, serial, refreshSecs, retrySecs, expireSecs, negativeTtl } = record.data
      return `${primary}. ${mailbox}. ${serial} ${refreshSecs} ${retrySecs} ${expireSecs} ${negativeTtl}`
    }
  }
}

function stringsOf(bytes: Buffer): string[] {
  const strings: string[] = []
  for (let from = 0; from === 0 || from < bytes.length; from += longestString)
    strings.push(quoted(bytes.subarray(from, from + longestString)))
  return strings
}

function quoted(bytes: Buffer): string {
  const characters = [...bytes].map((byte) => {
    if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
    return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`
  })
  return `"${characters.join('')}"`
}
