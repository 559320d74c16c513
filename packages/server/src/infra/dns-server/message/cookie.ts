import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Clock, clockSkewSecs, nowSecs } from '#lib/clock.ts'
import { MalformedMessage, WireReader } from './wire-reader.ts'

/** A DNS cookie of a question (RFC 7873): what its client has made, and what a server has given to it before. */
export interface QueryCookie {
  readonly client: Buffer
  /** Empty for a client that has none yet. */
  readonly server: Buffer
}

/** What a cookie tells of the sender of a question, and what the answer carries. */
export interface CheckedCookie {
  /** Nobody else has sent the question: over TCP, or with what this process has given to that address. */
  readonly isSenderKnown: boolean
  /** Both halves of the cookie for the answer. */
  next(): Buffer
}

export interface Sender {
  readonly ip: string
  readonly transport: 'udp' | 'tcp'
}

export const cookieOption = 10
const clientBytes = 8
const serverBytes = { least: 8, most: 32, ours: 16 }
// RFC 9018 section 4.3.
const version = 1
const lifeSecs = 3600
const renewSecs = 1800
const headOfOurs = Buffer.of(0, cookieOption, 0, clientBytes + serverBytes.ours)

/** Tells at little cost whether a message may have a cookie of this server. */
export function mayHaveServerCookie(message: Buffer): boolean {
  return message.includes(headOfOurs)
}

/** The first cookie of the options of an OPT record; the others count for nothing (RFC 7873 section 5.2). */
export function readCookie(options: Buffer): QueryCookie | undefined {
  const reader = new WireReader(options)
  let cookie: QueryCookie | undefined
  while (!reader.isAtEnd) {
    const [option, length] = [reader.number(2), reader.number(2)]
    const bytes = reader.bytes(length)
    if (option === cookieOption) cookie ??= splitCookie(bytes)
  }
  return cookie
}

function splitCookie(bytes: Buffer): QueryCookie {
  const server = bytes.subarray(clientBytes)
  const isWhole = bytes.length === clientBytes || server.length >= serverBytes.least
  if (!isWhole || server.length > serverBytes.most) throw new MalformedMessage('a cookie of a wrong length')
  return { client: bytes.subarray(0, clientBytes), server }
}

/** Gives cookies to clients and knows them again, with a secret that ends with the process. */
export class Cookies {
  readonly #clock: Pick<Clock, 'now'>
  readonly #secret = randomBytes(32)

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  check(cookie: QueryCookie, { ip, transport }: Sender): CheckedCookie {
    const { client, server } = cookie
    const now = nowSecs(this.#clock)
    const ageSecs = this.#ageOf(cookie, ip, now)
    const isFresh = ageSecs !== undefined && ageSecs <= renewSecs
    return {
      isSenderKnown: transport === 'tcp' || ageSecs !== undefined,
      next: () => Buffer.concat([client, isFresh ? server : this.#make(client, ip, now)]),
    }
  }

  /** Undefined for one that is not valid. */
  #ageOf({ client, server }: QueryCookie, ip: string, now: number): number | undefined {
    if (server.length !== serverBytes.ours || server[0] !== version) return undefined
    const madeAt = server.readUInt32BE(4)
    // Times go round, like serials (RFC 1982).
    const ageSecs = (now - madeAt) | 0
    if (ageSecs > lifeSecs || ageSecs < -clockSkewSecs) return undefined
    return timingSafeEqual(server, this.#make(client, ip, madeAt)) ? ageSecs : undefined
  }

  #make(client: Buffer, ip: string, atSecs: number): Buffer {
    const head = Buffer.alloc(8)
    head.writeUInt8(version, 0)
    head.writeUInt32BE(atSecs >>> 0, 4)
    const hmac = createHmac('sha256', this.#secret).update(client).update(head).update(ip)
    return Buffer.concat([head, hmac.digest().subarray(0, 8)])
  }
}
