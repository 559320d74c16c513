import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { askUdp, type ClientKey, question, signed } from '#harness/dns-client.ts'
import { TestClock } from '#harness/test-clock.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { type DnsServer, openDnsServer, type SecondaryAddress, type TransferPolicy } from './index.ts'

const apex = 'names.example'
const clock = new TestClock()
const key: ClientKey = { name: 'transfer.example', secret: Buffer.alloc(32, 7) }

let policy: TransferPolicy
let changed: string[]
let looks: number
let logged: string[]
let server: DnsServer

const log = (level: string) => (about: object, text: string) => {
  const { secondary, ...more } = about as Record<string, unknown>
  logged.push([level, text, JSON.stringify(more)].join(' '))
}
const logger = { info: log('info'), warn: log('warn'), error: log('error') } as unknown as Logger

beforeEach(async () => {
  policy = { networks: [], notified: [], key: undefined }
  changed = []
  looks = 0
  logged = []
  server = await open('127.0.0.1')
})
afterEach(() => server.close())

function open(host: string): Promise<DnsServer> {
  return openDnsServer({
    listen: [{ host, port: 0 }],
    zones: {
      answer: async () => ({ rcode: 'REFUSED' }),
      findTransferPolicy: async () => policy,
      openTransfer: async () => undefined,
      watchChanges: () => async () => {
        looks += 1
        return changed.splice(0)
      },
    },
    clock,
    logger,
  })
}

/** A secondary that keeps what it is told, and answers when it is told to. */
class Secondary {
  readonly told: Buffer[] = []
  rcode: number | undefined = 0
  #changedWaiters: (() => void)[] = []
  readonly #socket: Socket
  readonly address: SecondaryAddress

  private constructor(socket: Socket) {
    this.#socket = socket
    this.address = { host: '127.0.0.1', port: socket.address().port }
    socket.on('message', (message, { address, port }) => {
      this.told.push(message)
      if (this.rcode !== undefined) socket.send(this.answerTo(message, this.rcode), port, address)
      for (const wake of this.#changedWaiters.splice(0)) wake()
    })
  }

  static async start(): Promise<Secondary> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    onTestFinished(() => void socket.close())
    return new Secondary(socket)
  }

  answerTo(message: Buffer, rcode: number): Buffer {
    const answer = Buffer.from(message)
    answer.writeUInt16BE(0xa000 | rcode, 2)
    return answer
  }

  send(message: Buffer): void {
    this.#socket.send(message, server.port, server.host)
  }

  async untilTold(count: number): Promise<string[]> {
    while (this.told.length < count) await new Promise<void>((resolve) => this.#changedWaiters.push(resolve))
    return this.told.map(nameIn)
  }
}

function nameIn(message: Buffer): string {
  const labels: string[] = []
  for (let at = 12; message[at]; at += (message[at] ?? 0) + 1)
    labels.push(message.toString('latin1', at + 1, at + 1 + (message[at] ?? 0)))
  return labels.join('.')
}

/** Lets the server look for changes, and what it has sent before arrive. */
async function look(): Promise<void> {
  const before = looks
  clock.advance(2_000)
  await expect.poll(() => looks).toBeGreaterThan(before)
  await askUdp(server, apex, 'SOA')
}

describe('a secondary', () => {
  test('is told of a zone that has changed, once', async () => {
    const secondary = await Secondary.start()
    policy = { ...policy, notified: [secondary.address] }
    changed = [apex]
    await look()
    expect(await secondary.untilTold(1)).toEqual([apex])
    const [message = Buffer.alloc(0)] = secondary.told
    // NOTIFY with AA, and the question for the SOA record (RFC 1996 section 3.7).
    expect(message.readUInt16BE(2)).toBe(0x2400)
    expect(message.subarray(4)).toEqual(question(apex, 'SOA').subarray(4))
    clock.advance(60_000)
    await look()
    expect(secondary.told).toHaveLength(1)
    expect(logged).toEqual([])
  })

  test('is told with the signature of the key', async () => {
    const secondary = await Secondary.start()
    policy = { ...policy, notified: [secondary.address], key }
    changed = [apex]
    await look()
    await secondary.untilTold(1)
    const [message = Buffer.alloc(0)] = secondary.told
    const unsigned = question(apex, 'SOA', { id: message.readUInt16BE(0) })
    unsigned.writeUInt16BE(0x2400, 2)
    expect(message).toEqual(signed(unsigned, key, Math.floor(clock.now() / 1000)))
  })

  test('is told of zone after zone, each when the one before was answered', async () => {
    const secondary = await Secondary.start()
    secondary.rcode = undefined
    policy = { ...policy, notified: [secondary.address] }
    changed = ['a.example', 'b.example', 'c.example']
    await look()
    for (const count of [1, 2, 3]) {
      await secondary.untilTold(count)
      await askUdp(server, apex, 'SOA')
      expect(secondary.told).toHaveLength(count)
      const last = secondary.told.at(-1) ?? Buffer.alloc(0)
      secondary.send(secondary.answerTo(last, 0))
    }
    expect(await secondary.untilTold(3)).toEqual(['a.example', 'b.example', 'c.example'])
  })

  test('answers at another socket than it was told from, where the server listens everywhere', async () => {
    await server.close()
    server = await open('0.0.0.0')
    const secondary = await Secondary.start()
    policy = { ...policy, notified: [secondary.address] }
    changed = [apex, 'next.example']
    await look()
    expect(await secondary.untilTold(2)).toEqual([apex, 'next.example'])
  })

  test('is told of a zone that changes all the time every ten seconds', async () => {
    const secondary = await Secondary.start()
    policy = { ...policy, notified: [secondary.address] }
    changed = [apex]
    await look()
    await secondary.untilTold(1)
    for (let at = 0; at < 4; at += 1) {
      changed = [apex]
      await look()
      expect(secondary.told).toHaveLength(1)
    }
    await look()
    await secondary.untilTold(2)
  })

  test('that does not answer is told four times, then left to look by itself, and logged once', async () => {
    const secondary = await Secondary.start()
    secondary.rcode = undefined
    policy = { ...policy, notified: [secondary.address] }
    const untilGivenUp = async (toldBefore: number) => {
      changed = [apex, 'other.example']
      await look()
      for (const [at, waitMs] of [1_000, 2_000, 4_000, 8_000].entries()) {
        await secondary.untilTold(toldBefore + at + 1)
        clock.advance(waitMs)
      }
    }
    await untilGivenUp(0)
    expect(await secondary.untilTold(4)).toEqual([apex, apex, apex, apex])
    const ids = new Set(secondary.told.map((message) => message.readUInt16BE(0)))
    expect(ids.size).toBe(1)
    await untilGivenUp(4)
    expect(logged).toEqual([`warn a secondary does not answer {"zone":"${apex}"}`])
    secondary.rcode = 0
    clock.advance(10_000)
    changed = [apex]
    await look()
    await secondary.untilTold(9)
    await expect.poll(() => logged.at(-1)).toBe(`info a secondary answers again {"zone":"${apex}"}`)
  })

  test('that does not want the zone is asked no more, and that is logged', async () => {
    const secondary = await Secondary.start()
    secondary.rcode = 9
    policy = { ...policy, notified: [secondary.address] }
    changed = [apex]
    await look()
    await secondary.untilTold(1)
    await expect
      .poll(() => logged)
      .toEqual([`warn a secondary does not want to be told of a zone {"zone":"${apex}","rcode":9}`])
  })

  test('is not taken for another: answers from elsewhere, or with another id, do not count', async () => {
    const [secondary, other] = [await Secondary.start(), await Secondary.start()]
    secondary.rcode = undefined
    policy = { ...policy, notified: [secondary.address] }
    changed = [apex, 'next.example']
    await look()
    await secondary.untilTold(1)
    const [message = Buffer.alloc(0)] = secondary.told
    const answer = secondary.answerTo(message, 0)
    other.send(answer)
    const wrong = Buffer.from(answer)
    wrong.writeUInt16BE((answer.readUInt16BE(0) + 1) & 0xffff, 0)
    secondary.send(wrong)
    secondary.send(Buffer.from(answer).fill(0, 3, 4).subarray(0, 11))
    await askUdp(server, apex, 'SOA')
    expect(secondary.told).toHaveLength(1)
    secondary.send(answer)
    expect(await secondary.untilTold(2)).toEqual([apex, 'next.example'])
  })
})

test('every secondary is told, also when another does not answer', async () => {
  const [silent, secondary] = [await Secondary.start(), await Secondary.start()]
  silent.rcode = undefined
  policy = { ...policy, notified: [silent.address, secondary.address] }
  changed = ['a.example', 'b.example']
  await look()
  expect(await secondary.untilTold(2)).toEqual(['a.example', 'b.example'])
  expect(await silent.untilTold(1)).toEqual(['a.example'])
})
