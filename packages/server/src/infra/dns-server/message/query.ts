import { type CheckedCookie, type QueryCookie, readCookie } from './cookie.ts'
import { metaTypes, recordTypes } from './records.ts'
import { MalformedMessage, WireReader } from './wire-reader.ts'

/** What a client asks. */
export interface Query {
  readonly header: QueryHeader
  /** In lower case. */
  readonly name: string
  readonly type: number
  readonly class: number
  /** The question as it came: its letters keep their case in the answer. */
  readonly question: Buffer
  /** The version of the zone that the client has, in a question for IXFR. */
  readonly serial: number | undefined
  readonly edns: Edns | undefined
  readonly cookie: CheckedCookie | undefined
  readonly signature: QuerySignature | undefined
  /** Of the message, without its signature. */
  readonly length: number
}

export interface QueryHeader {
  readonly id: number
  readonly opcode: number
  readonly isRecursionDesired: boolean
}

interface Edns {
  readonly version: number
  readonly udpBytes: number
  readonly isDnssecWanted: boolean
  readonly cookie: QueryCookie | undefined
}

/** A TSIG record (RFC 8945 section 4.2), and the message that it signs. */
export interface QuerySignature {
  readonly keyName: string
  readonly algorithm: string
  readonly signedAt: number
  readonly fudgeSecs: number
  readonly mac: Buffer
  readonly originalId: number
  readonly error: number
  readonly other: Buffer
  /** The message as it was before it was signed. */
  readonly message: Buffer
}

/** Undefined for messages that are never answered: cut short, or answers themselves, lest two servers answer each other
 * forever. */
export function readHeader(bytes: Buffer): QueryHeader | undefined {
  if (bytes.length < 12) return undefined
  const flags = bytes.readUInt16BE(2)
  if ((flags & 0x8000) !== 0) return undefined
  return {
    id: bytes.readUInt16BE(0),
    opcode: (flags >> 11) & 15,
    isRecursionDesired: (flags & 0x0100) !== 0,
  }
}

/** Reads a message that looks like a question, whatever its opcode; throws `MalformedMessage`. */
export function readQuery(
  bytes: Buffer,
  header: QueryHeader,
  checkCookie: (cookie: QueryCookie) => CheckedCookie,
): Query {
  const reader = new WireReader(bytes)
  reader.offset = 4
  if (reader.number(2) !== 1) throw new MalformedMessage('not one question')
  const [answers, authorities, additionals] = [reader.number(2), reader.number(2), reader.number(2)]
  const name = reader.name()
  const question = { type: reader.number(2), class: reader.number(2) }
  const asked = bytes.subarray(12, reader.offset)
  for (let left = answers; left > 0; left -= 1) skipRecord(reader)
  const serial = readSerial(reader, question.type === metaTypes.IXFR, authorities)
  const { edns, signature } = readAdditionals(reader, bytes, additionals)
  if (!reader.isAtEnd) throw new MalformedMessage('bytes after the end')
  const cookie = edns?.cookie && checkCookie(edns.cookie)
  const { length } = signature?.message ?? bytes
  return { header, name, ...question, question: asked, serial, edns, cookie, signature, length }
}

function skipRecord(reader: WireReader): void {
  reader.skipName()
  reader.bytes(8)
  reader.bytes(reader.number(2))
}

/** An IXFR says with an SOA record in the authority section which version the client has (RFC 1995 section 3). */
function readSerial(reader: WireReader, isWanted: boolean, count: number): number | undefined {
  let serial: number | undefined
  for (let left = count; left > 0; left -= 1) {
    reader.skipName()
    const type = reader.number(2)
    reader.bytes(6)
    const data = new WireReader(reader.bytes(reader.number(2)))
    if (!isWanted || type !== recordTypes.SOA) continue
    data.skipName()
    data.skipName()
    serial = data.number(4)
  }
  return serial
}

function readAdditionals(
  reader: WireReader,
  bytes: Buffer,
  count: number,
): Pick<Query, 'edns' | 'signature'> {
  let edns: Edns | undefined
  for (let left = count; left > 0; left -= 1) {
    const start = reader.offset
    reader.skipName()
    const isRoot = reader.offset === start + 1
    const type = reader.number(2)
    if (type === metaTypes.TSIG) {
      if (left !== 1) throw new MalformedMessage('a signature that is not the last record')
      reader.offset = start
      return { edns, signature: readSignature(reader, bytes) }
    }
    if (type === metaTypes.OPT) {
      if (edns || !isRoot) throw new MalformedMessage('two OPT records, or one with a name')
      edns = readEdns(reader)
      continue
    }
    reader.bytes(6)
    reader.bytes(reader.number(2))
  }
  return { edns, signature: undefined }
}

function readEdns(reader: WireReader): Edns {
  const udpBytes = reader.number(2)
  reader.number(1)
  const version = reader.number(1)
  const isDnssecWanted = (reader.number(2) & 0x8000) !== 0
  const options = reader.bytes(reader.number(2))
  // What options of later versions look like is not known.
  return { udpBytes, version, isDnssecWanted, cookie: version === 0 ? readCookie(options) : undefined }
}

function readSignature(reader: WireReader, bytes: Buffer): QuerySignature {
  const start = reader.offset
  const keyName = reader.name()
  // Type, class ANY, TTL 0, length.
  reader.bytes(10)
  const algorithm = reader.name()
  const [signedAt, fudgeSecs] = [reader.number(6), reader.number(2)]
  const mac = reader.bytes(reader.number(2))
  const [originalId, error] = [reader.number(2), reader.number(2)]
  const other = reader.bytes(reader.number(2))
  const message = Buffer.from(bytes.subarray(0, start))
  message.writeUInt16BE(originalId, 0)
  message.writeUInt16BE(message.readUInt16BE(10) - 1, 10)
  return { keyName, algorithm, signedAt, fudgeSecs, mac, originalId, error, other, message }
}
