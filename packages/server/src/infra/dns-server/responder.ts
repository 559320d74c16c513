import { type Clock, nowSecs } from '#lib/clock.ts'
import { Gate, GateFullError } from '#lib/gate.ts'
import { Cookies, mayHaveServerCookie, type Sender } from './message/cookie.ts'
import { type Query, type QueryHeader, readHeader, readQuery } from './message/query.ts'
import { metaTypes, type ResponseCode, recordTypeOf } from './message/records.ts'
import {
  type ResponseContent,
  udpRoomOf,
  writeHeadOnly,
  writeResponse,
  writeTruncated,
} from './message/response.ts'
import { openSigning, type Signing, type TransferKey, unsigned } from './message/tsig.ts'
import { MalformedMessage } from './message/wire-reader.ts'
import {
  addressOf,
  isWithin,
  machineOf,
  type NetworkRate,
  networkOf,
  openNetworkLimits,
  openSenderLimits,
  type RateVerdict,
} from './network-limits.ts'
import type { RareLines } from './rare-lines.ts'
import { transferMessages } from './transfer.ts'
import type { TransferPolicy, Zones } from './zones.ts'

export interface ResponderDeps {
  readonly zones: Zones
  readonly clock: Pick<Clock, 'now'>
  readonly lines: RareLines
  readonly rate: NetworkRate
  /** Told of each answer. */
  readonly observe: (rcode: ResponseCode, transport: 'udp' | 'tcp') => void
  /** Told of each question over UDP that is sent to TCP, or not answered, because there are too many. */
  readonly observeLimited: (outcome: 'truncated' | 'dropped') => void
}

type Transport = Sender['transport']

// Few, so that the database is left to others as well. Networks take turns: one that asks for names that have to be read
// does not hold up another. What finds the queue full is dropped, and resolvers ask again.
const questionLimits = { total: 16, perKey: 16, waitingPerKey: 128, waiting: 1024 }
// A secondary that was told of many zones asks for all of them at once. What waits is bounded by the connections.
const maxTransfers = 4
const transferLimits = {
  total: maxTransfers,
  perKey: maxTransfers,
  waitingPerKey: Number.POSITIVE_INFINITY,
  waiting: Number.POSITIVE_INFINITY,
}
const maxTcpBytes = 65_535
const refused = { rcode: 'REFUSED' } as const
const opcodeQuery = 0
const classInternet = 1

/** Turns messages into answers, for UDP and TCP. */
export class Responder {
  readonly #deps: ResponderDeps
  readonly #cookies: Cookies
  readonly #judgeNetwork: (ip: string) => RateVerdict
  readonly #judgeSender: (ip: string) => RateVerdict
  readonly #transfers = new Gate(transferLimits)
  readonly #questions = new Gate(questionLimits)

  constructor(deps: ResponderDeps) {
    this.#deps = deps
    this.#cookies = new Cookies(deps.clock)
    this.#judgeNetwork = openNetworkLimits(deps.clock, deps.rate)
    this.#judgeSender = openSenderLimits(deps.clock, deps.rate)
  }

  /** Undefined: no answer is sent. */
  async answerDatagram(bytes: Buffer, ip: string): Promise<Buffer | undefined> {
    const header = readHeader(bytes)
    if (!header) return undefined
    const parse = () => this.#parse(bytes, header, { ip, transport: 'udp' })
    // Most of a flood is not even read.
    const early = mayHaveServerCookie(bytes) ? parse() : undefined
    const verdict = this.#judge(ip, early)
    if (verdict !== 'answer') return this.#limit(verdict, () => early ?? parse())
    const query = early ?? parse()
    if (!isQuestion(query)) return this.#reject(header, query, 'udp')
    const key = query.cookie?.isSenderKnown ? machineOf(ip) : networkOf(ip)
    return await this.#inTurn(key, () => this.#respond(query, 'udp'))
  }

  async #inTurn(key: string, answer: () => Promise<Buffer>): Promise<Buffer | undefined> {
    let leave = () => {}
    try {
      leave = await this.#questions.enter(key)
      return await answer()
    } catch (error) {
      if (!(error instanceof GateFullError)) throw error
      this.#deps.observeLimited('dropped')
      return undefined
    } finally {
      leave()
    }
  }

  /** Several messages for a zone transfer, else one or none. The signal tells that the client is gone. */
  async *answerStream(bytes: Buffer, ip: string, signal: AbortSignal): AsyncGenerator<Buffer> {
    const header = readHeader(bytes)
    if (!header) return
    const query = this.#parse(bytes, header, { ip, transport: 'tcp' })
    if (!isQuestion(query)) yield this.#reject(header, query, 'tcp')
    else if (isTransfer(query)) yield* this.#transfer(query, ip, signal)
    else yield await this.#respond(query, 'tcp')
  }

  #judge(ip: string, query: Query | undefined): RateVerdict {
    return query?.cookie?.isSenderKnown ? this.#judgeSender(ip) : this.#judgeNetwork(ip)
  }

  #limit(verdict: 'truncate' | 'drop', parse: () => Query | undefined): Buffer | undefined {
    const answer = verdict === 'truncate' ? truncated(parse()) : undefined
    this.#deps.observeLimited(answer ? 'truncated' : 'dropped')
    return answer
  }

  /** Answers what is no question, or cannot be read. */
  #reject(header: QueryHeader, query: Query | undefined, transport: Transport): Buffer {
    const rcode = header.opcode === opcodeQuery ? 'FORMERR' : 'NOTIMP'
    this.#deps.observe(rcode, transport)
    return query ? writeResponse(query, { rcode }, udpRoomOf(query)) : writeHeadOnly(header, rcode)
  }

  async #respond(query: Query, transport: Transport): Promise<Buffer> {
    const { zones, observe } = this.#deps
    const maxBytes = transport === 'udp' ? udpRoomOf(query) : maxTcpBytes
    let signing = unsigned
    let content: ResponseContent
    try {
      if (query.signature) signing = this.#signing(query, (await zones.findTransferPolicy()).key)
      content = faultOf(query, signing) ?? (await contentOf(zones, query, transport))
    } catch (error) {
      content = this.#failure(error)
    }
    observe(content.rcode, transport)
    const answer = writeResponse(query, content, maxBytes - signing.bytes)
    // One that was cut and has no room for its signature even so goes without it: over TCP the client gets both.
    return answer.length + signing.bytes > maxBytes ? answer : signing.seal(answer)
  }

  async *#transfer(query: Query, ip: string, signal: AbortSignal): AsyncGenerator<Buffer> {
    const { zones, observe } = this.#deps
    let signing = unsigned
    let hasBegun = false
    const only = (content: ResponseContent) => {
      observe(content.rcode, 'tcp')
      return signing.seal(writeResponse(query, content, maxTcpBytes))
    }
    let leave = () => {}
    try {
      const policy = await zones.findTransferPolicy()
      signing = this.#signing(query, policy.key)
      const refusal = this.#refusalOf(query, ip, { policy, signing })
      if (refusal) return yield only(refusal)
      leave = await this.#transfers.enter(ip, signal)
      const found = await zones.openTransfer(query.name)
      if (!found) return yield only({ rcode: 'NOTAUTH' })
      for await (const message of transferMessages(query, found)) {
        if (!hasBegun) observe('NOERROR', 'tcp')
        hasBegun = true
        yield signing.seal(message)
      }
    } catch (error) {
      // A transfer that ends early is one that the client does not take.
      if (hasBegun || signal.aborted) throw error
      yield only(this.#failure(error))
    } finally {
      leave()
    }
  }

  #refusalOf(
    query: Query,
    ip: string,
    { policy, signing }: { readonly policy: TransferPolicy; readonly signing: Signing },
  ): ResponseContent | undefined {
    const { networks, key } = policy
    const isAllowed = isWithin(ip, networks) && (key === undefined || signing.isSigned)
    const refusal = faultOf(query, signing) ?? (isAllowed ? undefined : refused)
    const fields = { zone: query.name, ip, error: signing.error }
    if (refusal) this.#deps.lines.write('warn', fields, 'a zone transfer was refused')
    return refusal
  }

  #failure(error: unknown): ResponseContent {
    this.#deps.lines.write('error', { err: error }, 'a DNS question could not be answered')
    return { rcode: 'SERVFAIL' }
  }

  /** Undefined for what cannot be read. */
  #parse(bytes: Buffer, header: QueryHeader, sender: Sender): Query | undefined {
    try {
      return readQuery(bytes, header, (cookie) =>
        this.#cookies.check(cookie, { ...sender, ip: addressOf(sender.ip) }),
      )
    } catch (error) {
      if (error instanceof MalformedMessage) return undefined
      throw error
    }
  }

  #signing({ signature }: Query, key: TransferKey | undefined): Signing {
    return openSigning(signature, { key, nowSecs: () => nowSecs(this.#deps.clock) })
  }
}

function isQuestion(query: Query | undefined): query is Query {
  return query?.header.opcode === opcodeQuery
}

/** An answer that sends the question to TCP; undefined for what cannot be read, or is signed. */
function truncated(query: Query | undefined): Buffer | undefined {
  return isQuestion(query) && !query.signature ? writeTruncated(query, { rcode: 'NOERROR' }) : undefined
}

function isTransfer({ type }: Query): boolean {
  return type === metaTypes.AXFR || type === metaTypes.IXFR
}

/** What is wrong with a question, wherever it is asked. */
function faultOf({ class: asked, edns }: Query, { error }: Signing): ResponseContent | undefined {
  if (error) return { rcode: error === 'FORMERR' ? 'FORMERR' : 'NOTAUTH' }
  if (edns && edns.version > 0) return { rcode: 'BADVERS' }
  return asked === classInternet ? undefined : refused
}

async function contentOf(
  zones: Zones,
  { name, type }: Query,
  transport: Transport,
): Promise<ResponseContent> {
  // Over UDP the answer to IXFR may be the SOA record alone, which sends the secondary to TCP (RFC 1995 section 2).
  if (type === metaTypes.IXFR && transport === 'udp') return await zones.answer({ name, type: 'SOA' })
  // ANY is refused: its long answers serve amplification attacks (RFC 8482).
  if (type >= metaTypes.TSIG && type <= metaTypes.ANY) return refused
  if (type === metaTypes.OPT) return { rcode: 'FORMERR' }
  return await zones.answer({ name, type: recordTypeOf(type) })
}
