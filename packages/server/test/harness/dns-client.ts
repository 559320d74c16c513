import { createHmac } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type DecodedPacket, decode, encode, type Packet } from 'dns-packet'

interface Server {
  readonly host: string
  readonly port: number
}

/** A key as a secondary has it. */
export interface ClientKey {
  readonly name: string
  readonly secret: Uint8Array
}

export function question(name: string, type: string, more: Partial<Packet> = {}): Buffer {
  return encode({ type: 'query', id: 4711, questions: [{ name, type: type as 'A' }], ...more })
}

/** A query that takes answers of so many bytes over UDP. */
export function withEdns(name: string, type: string, udpPayloadSize = 1232, ...cookies: Buffer[]): Buffer {
  const opt = {
    type: 'OPT',
    name: '.',
    udpPayloadSize,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    options: cookies.map((data) => ({ code: 10, data })),
  }
  return question(name, type, { additionals: [opt as never] })
}

/** The DNS cookie of an answer. */
export function cookieIn(answer: Buffer): Buffer | undefined {
  const [opt] = decode(answer).additionals ?? []
  if (opt?.type !== 'OPT') return undefined
  const options = opt.options as readonly { readonly code: number; readonly data: Buffer }[]
  return options.find(({ code }) => code === 10)?.data
}

/** The answers over UDP to some messages, up to the answer to the last one. */
export function exchangeUdp(server: Server, ...messages: Buffer[]): Promise<Buffer[]> {
  return exchangeUdpFrom(undefined, server, ...messages)
}

/** The same from one of the loopback addresses. */
export async function exchangeUdpFrom(
  address: string | undefined,
  { host, port }: Server,
  ...messages: Buffer[]
): Promise<Buffer[]> {
  const socket = createSocket('udp4')
  if (address !== undefined) await once(socket.bind(0, address), 'listening')
  const answers: Buffer[] = []
  const last = messages.at(-1)?.readUInt16BE(0)
  const done = new Promise<void>((resolve) => {
    socket.on('message', (answer) => {
      answers.push(answer)
      if (answer.readUInt16BE(0) === last) resolve()
    })
  })
  for (const message of messages) socket.send(message, port, host)
  await done
  socket.close()
  return answers
}

export async function askUdp(server: Server, name: string, type: string): Promise<DecodedPacket> {
  const [answer] = await exchangeUdp(server, question(name, type))
  return decode(answer ?? Buffer.alloc(0))
}

/** Everything that a server says over TCP to these messages, until it or the client ends the connection. */
export async function exchangeTcp({ host, port }: Server, ...messages: Buffer[]): Promise<Buffer[]> {
  const socket = connect({ host, port })
  await once(socket, 'connect')
  for (const message of messages) socket.write(framed(message))
  socket.end()
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  return unframed(Buffer.concat(chunks))
}

export async function askTcp(server: Server, name: string, type: string): Promise<DecodedPacket> {
  const [answer] = await exchangeTcp(server, question(name, type))
  return decode(answer ?? Buffer.alloc(0))
}

/** A connection that stays open, and what was answered over it so far. */
export interface OpenConnection {
  readonly socket: Socket
  readonly closed: Promise<void>
  ask(...messages: Buffer[]): void
  answers(): Buffer[]
}

export function openTcp({ host, port }: Server, localAddress?: string): OpenConnection {
  const socket = connect({ host, port, ...(localAddress ? { localAddress } : {}) })
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
  // The server may end it with what was sent unread.
  socket.on('error', () => {})
  return {
    socket,
    closed: new Promise((resolve) => socket.on('close', () => resolve())),
    ask: (...messages) => void socket.write(Buffer.concat(messages.map(framed))),
    answers: () => unframed(Buffer.concat(chunks)),
  }
}

export function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.length)
  return Buffer.concat([length, message])
}

export function unframed(bytes: Buffer): Buffer[] {
  const messages: Buffer[] = []
  for (let at = 0; at + 2 <= bytes.length; at += 2 + bytes.readUInt16BE(at)) {
    const message = bytes.subarray(at + 2, at + 2 + bytes.readUInt16BE(at))
    if (message.length === bytes.readUInt16BE(at)) messages.push(message)
  }
  return messages
}

export function rcodeOf(message: Buffer): number {
  return message.readUInt16BE(2) & 15
}

const algorithm = wireName('hmac-sha256')

/** Adds a TSIG record to a query, with the signature of RFC 8945 section 4.3, or so many bytes of it. */
export function signed(message: Buffer, key: ClientKey, atSecs: number, macBytes = 32): Buffer {
  const mac = macOf(key, atSecs, [message]).subarray(0, macBytes)
  const data = [
    algorithm,
    times(atSecs),
    number(mac.length),
    mac,
    message.subarray(0, 2),
    number(0),
    number(0),
  ]
  const length = Buffer.concat(data).length
  const head = [wireName(key.name), number(250), number(255), Buffer.alloc(4), number(length)]
  const whole = Buffer.concat([message, ...head, ...data])
  whole.writeUInt16BE(whole.readUInt16BE(10) + 1, 10)
  return whole
}

/** What the TSIG record at the end of an answer says, and whether its signature is right. */
export function readSignature(
  answer: Buffer,
  { key, query, isLater = false }: { key: ClientKey; query: Buffer; isLater?: boolean },
) {
  const start = answer.lastIndexOf(Buffer.concat([wireName(key.name), number(250)]))
  if (start < 0) return undefined
  const data = answer.subarray(start + wireName(key.name).length + 10 + algorithm.length)
  const mac = data.subarray(10, 10 + data.readUInt16BE(8))
  const plain = Buffer.from(answer.subarray(0, start))
  plain.writeUInt16BE(plain.readUInt16BE(10) - 1, 10)
  const error = data.readUInt16BE(10 + mac.length + 2)
  const atSecs = data.readUIntBE(0, 6)
  const before = isLater ? query : macIn(query, key)
  const expected = macOf(key, atSecs, [number(before.length), before, plain], isLater)
  return { error, mac, isRight: mac.equals(expected) }
}

function macIn(query: Buffer, key: ClientKey): Buffer {
  const start = query.lastIndexOf(Buffer.concat([wireName(key.name), number(250)]))
  const at = start + wireName(key.name).length + 10 + algorithm.length
  return query.subarray(at + 10, at + 10 + query.readUInt16BE(at + 8))
}

function macOf(key: ClientKey, atSecs: number, message: readonly Buffer[], hasTimesOnly = false): Buffer {
  const variables = [
    wireName(key.name),
    number(255),
    Buffer.alloc(4),
    algorithm,
    times(atSecs),
    Buffer.alloc(4),
  ]
  const hmac = createHmac('sha256', key.secret)
  return hmac.update(Buffer.concat([...message, ...(hasTimesOnly ? [times(atSecs)] : variables)])).digest()
}

function times(atSecs: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUIntBE(atSecs, 0, 6)
  bytes.writeUInt16BE(300, 6)
  return bytes
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function wireName(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'))
  return Buffer.concat([...labels, Buffer.of(0)])
}
