import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { openSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ownAddress } from '#harness/addresses.ts'
import type { Dice } from '#harness/dice.ts'
import { cookieIn, framed, question, rcodeOf, unframed, withEdns } from '#harness/dns-client.ts'
import { DnsDice, type ThrownPacket } from '#harness/dns-dice.ts'
import { runsOf } from '#harness/property-runs.ts'
import { giveName, setSetting } from '#harness/served-names.ts'
import { ServerProcess } from '#harness/server-process.ts'
import { labBytes, testSeed } from '#harness/test-seed.ts'

const apex = 'names.localhost'
const labels = ['alice', 'bob', 'carol', 'gina.west', 'west', 'ns1', '_service', 'nobody']
const target = { host: ownAddress(1), port: 5300 }
const packetCount = runsOf(100_000)
const warmUp = packetCount / 5
// Of small datagrams, which fit into the buffer of a socket.
const perBatch = 125
const framesPerBatch = 10
// Each is in a network of its own, within whose rate it stays; one is not.
const clientCount = 256
const floodShare = 0.1
const mostGrowth = 64 * 1024 * 1024
const [noError, nxDomain] = [0, 3]

let folder: string
let server: ServerProcess
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-packets-'))
  server = await ServerProcess.start({
    idTag: apex,
    dataDir: join(folder, 'data'),
    env: {
      DNS_LISTEN: `${target.host}:${target.port}`,
      LOCAL_ADDRESSES: '198.51.100.1,2001:db8::1',
      LOG_LEVEL: 'warn',
    },
    log: openSync(join(folder, 'log'), 'a'),
  })
  await setSetting(server, 'idp.enabled', true)
  await setSetting(server, 'dns.transfer_networks', ['127.0.0.0/8'])
  // An answer that is too long for UDP.
  const authorities = Array.from(
    { length: 10 },
    (_, at) => `0 issue ca${at}.example; accounturi=${'x'.repeat(150)}`,
  )
  await setSetting(server, 'dns.caa', authorities)
})
afterAll(async () => {
  await server?.kill()
  await rm(folder, { recursive: true, force: true })
})

/** One address that sends, and what it was answered. */
class Client {
  readonly address: string
  readonly wrong: string[]
  cookie: Buffer = Buffer.alloc(0)
  /** Questions that any server answers, and how many were. */
  asked = 0
  answered = 0
  readonly #socket: Socket = createSocket('udp4')
  // By their ids, which go round.
  readonly #sent = new Map<number, ThrownPacket>()
  #nextId = 0

  constructor(address: string, wrong: string[]) {
    this.address = address
    this.wrong = wrong
    this.#socket.on('message', (answer) => this.#take(answer))
  }

  async open(): Promise<void> {
    await once(this.#socket.bind(0, this.address), 'listening')
    const first = once(this.#socket, 'message') as Promise<[Buffer]>
    const bytes = withEdns(`alice.${apex}`, 'A', 1232, labBytes(8))
    this.send({ bytes, isQuestion: true, hasRightCookie: false })
    const [answer] = await first
    this.cookie = cookieIn(answer) ?? this.cookie
  }

  send(packet: ThrownPacket): void {
    const id = this.#nextId
    this.#nextId = (id + 1) & 0xffff
    const bytes = Buffer.from(packet.bytes)
    if (bytes.length >= 2) bytes.writeUInt16BE(id, 0)
    this.#sent.set(id, { ...packet, bytes })
    if (packet.isQuestion) this.asked += 1
    this.#socket.send(bytes, target.port, target.host)
  }

  close(): void {
    this.#socket.close()
  }

  #take(answer: Buffer): void {
    const id = answer.readUInt16BE(0)
    const packet = this.#sent.get(id)
    this.#sent.delete(id)
    const fault = packet ? faultOf(packet, answer) : 'an answer to nothing'
    if (fault) this.wrong.push(`${fault}: ${packet?.bytes.toString('hex')} -> ${answer.toString('hex')}`)
    if (packet?.isQuestion) this.answered += 1
  }
}

/** What an answer over UDP should not be. */
function faultOf({ bytes, hasRightCookie }: ThrownPacket, answer: Buffer): string | undefined {
  if (bytes.length < 12) return 'an answer to less than a head'
  if (bytes.readUInt16BE(2) & 0x8000) return 'an answer to an answer'
  if (!(answer.readUInt16BE(2) & 0x8000)) return 'no answer'
  const hasEdns = bytes.includes(Buffer.of(0, 0, 41))
  if (answer.length > (hasEdns ? 1232 : 512)) return 'too long'
  const isTruncated = (answer.readUInt16BE(2) & 0x0200) !== 0
  const isError = ![noError, nxDomain].includes(rcodeOf(answer))
  // BADVERS has its higher bits elsewhere, but no records either.
  const isEmpty = answer.readUInt16BE(6) + answer.readUInt16BE(8) === 0
  const isShort = isTruncated || isError || isEmpty
  if (isShort && !hasRightCookie && answer.length > bytes.length) return 'longer than its question'
  return undefined
}

/** Sends frames, some of them spoiled, over one connection until the server ends it; answers what it said. */
async function sendFrames(
  packets: readonly ThrownPacket[],
  localAddress: string,
  dice: Dice,
): Promise<Buffer[]> {
  const socket = connect({ ...target, localAddress })
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
  // The server may end it with what was sent unread.
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.on('close', resolve))
  for (const { bytes } of packets) {
    const frame = framed(bytes)
    if (dice.isIn(0.1)) frame.writeUInt16BE(dice.pick([0, 1, 11, bytes.length + 1, 4096, 4097, 65_535]))
    const cut = dice.below(frame.length)
    socket.write(frame.subarray(0, cut))
    socket.write(frame.subarray(cut))
  }
  socket.end()
  await closed
  return unframed(Buffer.concat(chunks))
}

/** Asks until there is an answer: what was sent before has been read then. */
async function openSentinel() {
  const socket = createSocket('udp4')
  await once(socket.bind(0, ownAddress(2)), 'listening')
  let id = 0
  return {
    async ask(): Promise<Buffer> {
      id += 1
      const message = question(`alice.${apex}`, 'A', { id })
      const send = () => socket.send(message, target.port, target.host)
      const resending = setInterval(send, 1000)
      send()
      try {
        for (;;) {
          const [answer] = (await once(socket, 'message')) as [Buffer]
          if (answer.readUInt16BE(0) === id) return answer
        }
      } finally {
        clearInterval(resending)
      }
    },
    [Symbol.dispose]: () => socket.close(),
  }
}

const openFiles = () => readdirSync(`/proc/${server.pid}/fd`).length
const memory = () => {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
const linesOfErrors = () =>
  readFileSync(join(folder, 'log'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .filter((line) => ['error', 'fatal'].includes(JSON.parse(line).level))

test('packets of any bytes neither stop the server nor make it send more than it was sent', async () => {
  await giveName(server, 'alice', '198.51.100.7')
  await giveName(server, 'bob', `alice.${apex}`)
  await giveName(server, 'carol', 'server.example.net')
  await giveName(server, 'gina.west', '2001:db8::7')
  const thrower = new DnsDice(testSeed(), { apex, labels })
  const { dice } = thrower
  const wrong: string[] = []
  const clients = Array.from({ length: clientCount }, (_, at) => new Client(`127.250.${at}.1`, wrong))
  const flooding = new Client('127.251.0.1', wrong)
  using sentinel = await openSentinel()
  for (const client of [...clients, flooding]) await client.open()
  let overTcp = 0
  let warm: { readonly memory: number; readonly files: number } | undefined
  for (let sent = 0; sent < packetCount; sent += perBatch) {
    for (let left = perBatch - framesPerBatch; left > 0; left -= 1) {
      const client = dice.isIn(floodShare) ? flooding : dice.pick(clients)
      client.send(thrower.throw(client.cookie))
    }
    const frames = Array.from({ length: framesPerBatch }, () => thrower.throw(dice.pick(clients).cookie))
    const said = sendFrames(frames, dice.pick(clients).address, dice)
    const answer = await sentinel.ask()
    expect(answer.subarray(-4)).toEqual(Buffer.of(198, 51, 100, 7))
    for (const each of await said) {
      overTcp += 1
      if (!(each.readUInt16BE(2) & 0x8000)) wrong.push('no answer over TCP')
    }
    expect(wrong).toEqual([])
    if (sent >= warmUp) warm ??= { memory: memory(), files: openFiles() }
  }
  const sum = (of: 'asked' | 'answered') => clients.reduce((total, client) => total + client[of], 0)
  expect(sum('asked')).toBeGreaterThan(packetCount / 5)
  await expect.poll(() => sum('answered')).toBeGreaterThan(sum('asked') / 2)
  expect(overTcp).toBeGreaterThan(packetCount / 100)
  expect(flooding.answered).toBeLessThan(flooding.asked)
  expect(memory()).toBeLessThan((warm?.memory ?? 0) + mostGrowth)
  await expect.poll(openFiles).toBeLessThanOrEqual(warm?.files ?? 0)
  expect(linesOfErrors()).toEqual([])
  for (const client of [...clients, flooding]) client.close()
  expect(await server.kill('SIGTERM')).toBe(0)
})
