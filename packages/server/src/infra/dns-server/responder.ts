import type { Logger } from '#infra/telemetry/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { isWithin, type NetworkRate, openNetworkLimits, type RateVerdict } from './network-limits.ts'
import { type Query, type QueryHeader, readHeader, readQuery } from './query.ts'
import { metaTypes, type ResponseCode, recordTypeOf } from './records.ts'
import { type ResponseContent, udpRoomOf, writeHeadOnly, writeResponse, writeTruncated } from './response.ts'
import { transferMessages } from './transfer.ts'
import { openSigning, type Signing, type TransferKey } from './tsig.ts'
import { MalformedMessage } from './wire-reader.ts'
import type { Zones } from './zones.ts'

export interface ResponderDeps {
  readonly zones: Zones
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
  readonly rate: NetworkRate
  /** Told of each answer. */
  readonly observe: (rcode: ResponseCode, transport: 'udp' | 'tcp') => void
  /** Told of each question over UDP that is sent to TCP, or not answered, because there are too many. */
  readonly observeLimited: (outcome: 'truncated' | 'dropped') => void
}

type Transport = 'udp' | 'tcp'

// Queries that wait for the database. Above that they are dropped, and resolvers ask again.
const maxUnderWay = 512
const maxTransfers = 4
const maxTcpBytes = 65_535
const notAuthentic = { rcode: 'NOTAUTH' } as const
const refused = { rcode: 'REFUSED' } as const
const opcodeQuery = 0
const classInternet = 1

/** Turns messages into answers, for UDP and TCP. */
export class Responder {
  readonly #deps: ResponderDeps
  readonly #judge: (ip: string) => RateVerdict
  #underWay = 0
  #transfers = 0

  constructor(deps: ResponderDeps) {
    this.#deps = deps
    this.#judge = openNetworkLimits(deps.clock, deps.rate)
  }

  /** Undefined: no answer is sent. */
  async answerDatagram(bytes: Buffer, ip: string): Promise<Buffer | undefined> {
    const header = readHeader(bytes)
    if (!header) return undefined
    const verdict = this.#underWay >= maxUnderWay ? 'drop' : this.#judge(ip)
    if (verdict !== 'answer') return this.#limit(verdict, bytes, header)
    const query = parse(bytes, header)
    this.#underWay += 1
    try {
      return typeof query === 'string'
        ? this.#reject(header, query, 'udp')
        : await this.#respond(query, 'udp')
    } finally {
      this.#underWay -= 1
    }
  }

  /** Several messages for a zone transfer, else one or none. */
  async *answerStream(bytes: Buffer, ip: string): AsyncGenerator<Buffer> {
    const header = readHeader(bytes)
    if (!header) return
    const query = parse(bytes, header)
    if (typeof query === 'string') yield this.#reject(header, query, 'tcp')
    else if (isTransfer(query)) yield* this.#transfer(query, ip)
    else yield await this.#respond(query, 'tcp')
  }

  #limit(verdict: 'truncate' | 'drop', bytes: Buffer, header: QueryHeader): Buffer | undefined {
    const answer = verdict === 'truncate' ? truncated(bytes, header) : undefined
    this.#deps.observeLimited(answer ? 'truncated' : 'dropped')
    return answer
  }

  #reject(header: QueryHeader, rcode: ResponseCode, transport: Transport): Buffer {
    this.#deps.observe(rcode, transport)
    return writeHeadOnly(header, rcode)
  }

  async #respond(query: Query, transport: Transport): Promise<Buffer> {
    const { zones, observe } = this.#deps
    const maxBytes = transport === 'udp' ? udpRoomOf(query) : maxTcpBytes
    const signing = this.#signing(query, query.signature && (await zones.findTransferPolicy()).key)
    const content = signing.error ? notAuthentic : await contentOf(this.#deps, query, transport)
    observe(content.rcode, transport)
    return signing.seal(writeResponse(query, content, maxBytes - (signing.isSigned ? signatureBytes : 0)))
  }

  async *#transfer(query: Query, ip: string): AsyncGenerator<Buffer> {
    const { zones, observe, logger } = this.#deps
    const { networks, key } = await zones.findTransferPolicy()
    const signing = this.#signing(query, key)
    const isSigned = key === undefined || signing.isSigned
    const isAllowed = !signing.error && isSigned && isWithin(ip, networks)
    if (!isAllowed || this.#transfers >= maxTransfers) {
      logger.warn({ zone: query.name, ip, error: signing.error }, 'a zone transfer was refused')
      const content = signing.error ? notAuthentic : refused
      observe(content.rcode, 'tcp')
      yield signing.seal(writeResponse(query, content, maxTcpBytes))
      return
    }
    this.#transfers += 1
    try {
      const found = await zones.openTransfer(query.name)
      observe(found ? 'NOERROR' : 'NOTAUTH', 'tcp')
      for await (const message of transferMessages(query, found)) yield signing.seal(message)
    } finally {
      this.#transfers -= 1
    }
  }

  #signing({ signature }: Query, key: TransferKey | undefined): Signing {
    return openSigning(signature, { key, nowSecs: () => nowSecs(this.#deps.clock) })
  }
}

// A TSIG record with the longest name of a key: 255, and 13 of the algorithm, 32 of the signature, 26 of the rest.
const signatureBytes = 326

function parse(bytes: Buffer, header: QueryHeader): Query | 'NOTIMP' | 'FORMERR' {
  if (header.opcode !== opcodeQuery) return 'NOTIMP'
  try {
    return readQuery(bytes, header)
  } catch (error) {
    if (error instanceof MalformedMessage) return 'FORMERR'
    throw error
  }
}

/** An answer that sends the question to TCP; undefined for what cannot be read, or is signed. */
function truncated(bytes: Buffer, header: QueryHeader): Buffer | undefined {
  const query = parse(bytes, header)
  const isReadable = typeof query !== 'string' && !query.signature
  return isReadable ? writeTruncated(query, { rcode: 'NOERROR' }) : undefined
}

function isTransfer({ type }: Query): boolean {
  return type === metaTypes.AXFR || type === metaTypes.IXFR
}

async function contentOf(
  { zones, logger }: Pick<ResponderDeps, 'zones' | 'logger'>,
  { name, type, class: asked, edns }: Query,
  transport: Transport,
): Promise<ResponseContent> {
  if (edns && edns.version > 0) return { rcode: 'BADVERS' }
  if (asked !== classInternet) return refused
  // Over UDP the answer to IXFR may be the SOA record alone, which sends the secondary to TCP (RFC 1995 section 2).
  if (type === metaTypes.IXFR && transport === 'udp') return await zones.answer({ name, type: 'SOA' })
  // ANY is refused: its long answers serve amplification attacks (RFC 8482).
  if (type >= metaTypes.TSIG && type <= metaTypes.ANY) return refused
  if (type === metaTypes.OPT) return { rcode: 'FORMERR' }
  try {
    return await zones.answer({ name, type: recordTypeOf(type) })
  } catch (error) {
    logger.error({ err: error }, 'a DNS question could not be answered')
    return { rcode: 'SERVFAIL' }
  }
}
