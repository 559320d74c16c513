import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { type Answer, decode, encode, type Question, type RecordType } from 'dns-packet'

type ServedType = 'A' | 'AAAA' | 'CNAME' | 'TXT' | 'SOA'
type Failing = 'SERVFAIL' | 'REFUSED' | 'silent'

// Response codes stand in the low four bits of the flags (RFC 1035 section 4.1.1).
const responseCodes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const
const authoritative = 1 << 10

/** A DNS server on a port of the loopback address, UDP and TCP, any that is free unless one is wanted, serving what a test tells it. */
export interface TestDnsServer extends AsyncDisposable {
  /** `ip:port`, as `DNS_SERVERS` takes it. */
  readonly address: string
  /** What was asked so far, as `TYPE name`, in order. */
  readonly questions: readonly string[]
  /** Replaces the records of a name and type. A TXT record given as an array has several strings, an
   * SOA record is given by its serial. */
  set(name: string, type: ServedType, ...records: (string | readonly string[])[]): void
  /** Takes every record of a name away: it answers NXDOMAIN. */
  remove(name: string): void
  /** Makes the name (every name when absent) fail from now on, or work again with `undefined`. */
  fail(how: Failing | undefined, name?: string): void
  /** Keeps questions for the name without an answer until what it returns is called. */
  hold(name: string): () => void
}

export async function startDnsServer(wanted = 0): Promise<TestDnsServer> {
  const zone = new Map<string, Map<string, readonly (string | readonly string[])[]>>()
  const failing = new Map<string, Failing>()
  const held = new Map<string, (() => void)[]>()
  const questions: string[] = []

  function reply(message: Buffer, send: (answer: Buffer) => void): void {
    const { id, flags, questions: asked } = decode(message)
    const [question] = asked ?? []
    if (!question) return
    questions.push(`${question.type} ${question.name}`)
    const name = question.name.toLowerCase()
    const failure = failing.get(name) ?? failing.get('*')
    if (failure === 'silent') return
    const answers = failure ? [] : answersTo(question, name)
    const code = failure ?? (zone.has(name) ? 'NOERROR' : 'NXDOMAIN')
    const header = {
      id,
      type: 'response',
      flags: (flags ?? 0) | authoritative | responseCodes[code],
    } as const
    const answer = encode({ ...header, questions: [question], answers })
    const waiting = held.get(name)
    if (waiting) waiting.push(() => send(answer))
    else send(answer)
  }

  function answersTo(question: Question, name: string): Answer[] {
    const types = zone.get(name)
    const [alias] = types?.get('CNAME') ?? []
    if (typeof alias === 'string' && question.type !== 'CNAME') {
      const record: Answer = { name: question.name, type: 'CNAME', ttl: 60, data: alias }
      return [record, ...answersTo({ ...question, name: alias }, alias)]
    }
    const records = types?.get(question.type) ?? []
    return records.map((data) => toAnswer(question.name, question.type, data))
  }

  const { port, socket, streams } = await bindBoth(wanted)
  socket.on('message', (message, peer) => {
    reply(message, (answer) => socket.send(answer, peer.port, peer.address))
  })
  // One question a connection is what its askers send.
  streams.on('connection', (connection) => {
    connection
      .on('error', () => undefined)
      .once('data', (message: Buffer) =>
        reply(message.subarray(2), (answer) => {
          const length = Buffer.alloc(2)
          length.writeUInt16BE(answer.length)
          connection.end(Buffer.concat([length, answer]))
        }),
      )
  })
  return {
    address: `127.0.0.1:${port}`,
    questions,
    set(name, type, ...records) {
      const types = zone.get(name) ?? new Map()
      zone.set(name, types.set(type, records))
    },
    remove: (name) => void zone.delete(name),
    fail(how, name = '*') {
      if (how) failing.set(name, how)
      else failing.delete(name)
    },
    hold(name) {
      held.set(name, [])
      return () => {
        for (const send of held.get(name) ?? []) send()
        held.delete(name)
      }
    },
    async [Symbol.asyncDispose]() {
      streams.close()
      await new Promise<void>((resolve) => socket.close(() => resolve()))
    },
  }
}

/** Binds UDP and TCP to one port. With 0 the system chooses a port that is free for TCP; where it is taken for UDP, another one is
 * tried. */
async function bindBoth(wanted: number): Promise<{ port: number; socket: Socket; streams: Server }> {
  for (;;) {
    const streams = createServer().listen(wanted, '127.0.0.1')
    await once(streams, 'listening')
    const { port } = streams.address() as AddressInfo
    const socket = createSocket('udp4')
    try {
      await once(socket.bind(port, '127.0.0.1'), 'listening')
      return { port, socket, streams }
    } catch (error) {
      streams.close()
      socket.close()
      if (wanted !== 0) throw error
    }
  }
}

function toAnswer(name: string, type: RecordType, data: string | readonly string[]): Answer {
  const times = { refresh: 300, retry: 60, expire: 86_400, minimum: 60 }
  const soa = { mname: `ns1.${name}`, rname: `hostmaster.${name}`, serial: Number(data), ...times }
  return { name, type, ttl: 60, data: type === 'SOA' ? soa : data } as Answer
}
