import { cookieOption } from './cookie.ts'
import type { Query, QueryHeader } from './query.ts'
import { metaTypes, type ResourceRecord, type ResponseCode, responseCodes } from './records.ts'
import { WireWriter } from './wire-writer.ts'

// Fits into one packet on every path (RFC 9715 section 3).
export const mostUdpBytes = 1232
const leastUdpBytes = 512
// Of an OPT record without options, and of the head of an option.
const ednsBytes = 11
const optionBytes = 4

export interface ResponseContent {
  readonly rcode: ResponseCode
  readonly isAuthoritative?: boolean
  readonly answers?: readonly ResourceRecord[]
  readonly authority?: readonly ResourceRecord[]
}

/** The bytes of a UDP answer that this client can take. */
export function udpRoomOf({ edns }: Pick<Query, 'edns'>): number {
  return Math.min(Math.max(edns?.udpBytes ?? 0, leastUdpBytes), mostUdpBytes)
}

/** Writes the answer to a query; only its head, with the TC bit, when it would be longer than `maxBytes`. */
export function writeResponse(query: Query, content: ResponseContent, maxBytes: number): Buffer {
  const whole = write(query, content, false)
  return whole.length <= maxBytes ? whole : writeTruncated(query, content)
}

/** An answer without records that sends the client to TCP. */
export function writeTruncated(query: Query, { rcode, isAuthoritative = false }: ResponseContent): Buffer {
  return write(query, { rcode, isAuthoritative }, true)
}

function write(query: Query, content: ResponseContent, isTruncated: boolean): Buffer {
  const { rcode, isAuthoritative = false, answers = [], authority = [] } = content
  const writer = new WireWriter()
  writeHead(writer, query.header, { rcode, isAuthoritative, isTruncated, questions: 1 })
  knowQuestion(writer, query)
  writer.bytes(query.question)
  for (const record of [...answers, ...authority]) writer.record(record)
  const hasRecords = answers.length + authority.length > 0
  if (query.edns)
    writeEdns(writer, query.edns, rcode, cookieFor(query, hasRecords ? undefined : writer.length))
  return writer.finish({
    answers: answers.length,
    authority: authority.length,
    additional: query.edns ? 1 : 0,
  })
}

/** A header alone, for a message that cannot be parsed or has an unknown opcode. */
export function writeHeadOnly(header: QueryHeader, rcode: ResponseCode): Buffer {
  const writer = new WireWriter()
  writeHead(writer, header, { rcode, isAuthoritative: false, isTruncated: false, questions: 0 })
  return writer.finish({ answers: 0, authority: 0, additional: 0 })
}

interface Head {
  readonly rcode: ResponseCode
  readonly isAuthoritative: boolean
  readonly isTruncated: boolean
  readonly questions: 0 | 1
}

function writeHead(
  writer: WireWriter,
  { id, opcode, isRecursionDesired }: QueryHeader,
  { rcode, isAuthoritative, isTruncated, questions }: Head,
): void {
  const bits = [
    [isAuthoritative, 0x0400],
    [isTruncated, 0x0200],
    [isRecursionDesired, 0x0100],
  ] as const
  const flags = bits.reduce((sum, [isSet, bit]) => sum | (isSet ? bit : 0), 0x8000 | (opcode << 11))
  writer.number(id, 2)
  writer.number(flags | (responseCodes[rcode] & 15), 2)
  writer.number(questions, 2)
  writer.number(0, 6)
}

/** Lets names in the answer point into the question, which keeps the case of its letters. */
function knowQuestion(writer: WireWriter, { name, question }: Query): void {
  let offset = 0
  for (let rest = name; rest !== ''; rest = rest.includes('.') ? rest.slice(rest.indexOf('.') + 1) : '') {
    writer.know(rest, 12 + offset)
    offset += (question[offset] ?? 0) + 1
  }
}

/** Of no more bytes than the question leaves: an answer without records, after so many bytes, is no longer than its question
 * unless its sender is known. */
function cookieFor({ cookie, length }: Query, emptyBytes: number | undefined): Buffer | undefined {
  const given = cookie?.next()
  if (!given || cookie?.isSenderKnown || emptyBytes === undefined) return given
  return emptyBytes + ednsBytes + optionBytes + given.length <= length ? given : undefined
}

function writeEdns(
  writer: WireWriter,
  { isDnssecWanted }: NonNullable<Query['edns']>,
  rcode: ResponseCode,
  cookie: Buffer | undefined,
): void {
  writer.number(0, 1)
  writer.number(metaTypes.OPT, 2)
  writer.number(mostUdpBytes, 2)
  writer.number(responseCodes[rcode] >> 4, 1)
  writer.number(0, 1)
  writer.number(isDnssecWanted ? 0x8000 : 0, 2)
  writer.number(cookie ? optionBytes + cookie.length : 0, 2)
  if (!cookie) return
  writer.number(cookieOption, 2)
  writer.number(cookie.length, 2)
  writer.bytes(cookie)
}
