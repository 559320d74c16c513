import { decode } from 'dns-packet'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  cookieIn,
  exchangeTcp,
  exchangeUdp,
  exchangeUdpFrom,
  question,
  rcodeOf,
  readSignature,
  signed,
  withEdns,
} from '#harness/dns-client.ts'
import { TestClock } from '#harness/test-clock.ts'
import { labBytes } from '#harness/test-seed.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { type DnsServer, openDnsServer, type RecordData, type Zones } from './index.ts'
import { openSenderLimits } from './network-limits.ts'
import { RareLines } from './rare-lines.ts'
import { Responder } from './responder.ts'

const clock = new TestClock()
const key = { name: 'transfer.example', secret: labBytes(32) }
const apex = 'names.example'
const name = `alice.${apex}`
const long = `long.${apex}`
const client = labBytes(8)
const [formErr, refused, notAuth] = [1, 5, 9]

const zones: Zones = {
  async answer({ name: asked }) {
    if (!asked.endsWith(apex)) return { rcode: 'REFUSED' }
    const data: RecordData = { type: 'TXT', data: 'x'.repeat(asked === long ? 2000 : 10) }
    return { rcode: 'NOERROR', isAuthoritative: true, answers: [{ name: asked, ttl: 60, ...data }] }
  },
  findTransferPolicy: async () => ({ networks: [], notified: [], key }),
  openTransfer: async () => undefined,
  watchChanges: () => async () => [],
}

let server: DnsServer
const limited: string[] = []
beforeAll(async () => {
  server = await openDnsServer({
    listen: [{ host: '127.0.0.1', port: 0 }],
    zones,
    clock,
    logger: silentLogger,
    rate: { perSecond: 1, burst: 10 },
    observeLimited: (outcome) => void limited.push(outcome),
  })
})
afterAll(() => server.close())
beforeEach(() => {
  clock.advance(10_000)
  limited.length = 0
})

const one = async (answers: Promise<Buffer[]>) => (await answers)[0] ?? Buffer.alloc(12)
const ask = (...cookies: Buffer[]) => one(exchangeUdp(server, withEdns(name, 'TXT', 1232, ...cookies)))
const fetchCookie = async () => cookieIn(await ask(client)) ?? Buffer.alloc(0)
const ids = (message: Buffer, count: number) =>
  Array.from({ length: count }, (_, id) => {
    const copy = Buffer.from(message)
    copy.writeUInt16BE(id, 0)
    return copy
  })
/** Takes everything that the network of the sender may ask for, and as much again. */
const flood = (from: string) => {
  clock.advance(10_000)
  return exchangeUdpFrom(from, server, ...ids(question(name, 'TXT'), 20))
}
const isWhole = (answer: Buffer) => answer.readUInt16BE(6) === 1

describe('a cookie', () => {
  test('comes back with that of the server', async () => {
    const answer = await ask(client)
    expect(isWhole(answer)).toBe(true)
    expect(cookieIn(answer)).toHaveLength(24)
    expect(cookieIn(answer)?.subarray(0, 8)).toEqual(client)
    expect(cookieIn(await ask())).toBe(undefined)
  })

  test.each([0, 7, 9, 15, 41])('of %s bytes is malformed', async (length) => {
    expect(rcodeOf(await ask(Buffer.alloc(length)))).toBe(formErr)
  })

  test('of a later version of EDNS is not read', async () => {
    const message = withEdns(name, 'TXT', 1232, Buffer.alloc(3))
    message.writeUInt8(1, message.length - 12)
    const answer = await one(exchangeUdp(server, message))
    expect(decode(answer).additionals).toEqual([expect.objectContaining({ extendedRcode: 1, options: [] })])
  })

  test('that is wrong is answered by a right one', async () => {
    const right = cookieIn(await ask(Buffer.concat([client, labBytes(16)]))) ?? Buffer.alloc(0)
    await flood('127.0.0.1')
    expect(isWhole(await ask(right))).toBe(true)
  })
})

describe('a sender who has proved its address', () => {
  test('is answered while others ask too much in the name of its network', async () => {
    const cookie = await fetchCookie()
    await flood('127.0.0.2')
    limited.length = 0
    const answers = await exchangeUdp(server, ...ids(withEdns(name, 'TXT', 1232, cookie), 10))
    expect(answers.map(isWhole)).toEqual(Array(10).fill(true))
    expect(limited).toEqual([])
  })

  test('takes nothing from its network', async () => {
    const cookie = await fetchCookie()
    await exchangeUdp(server, ...ids(withEdns(name, 'TXT', 1232, cookie), 10))
    clock.advance(1000)
    const answers = await exchangeUdpFrom('127.0.0.2', server, ...ids(question(name, 'TXT'), 10))
    expect(answers.filter(isWhole)).toHaveLength(10)
  })

  test('is bounded itself, and keeps its cookie', async () => {
    const cookie = await fetchCookie()
    const message = withEdns(name, 'TXT', 1232, cookie)
    const answers = await exchangeUdp(server, ...ids(message, 20))
    expect(answers.map(isWhole)).toEqual([...Array(10).fill(true), ...Array(5).fill(false)])
    for (const answer of answers.slice(10)) {
      expect(decode(answer)).toMatchObject({ flag_tc: true, answers: [] })
      expect(cookieIn(answer)).toEqual(cookie)
      expect(answer.length).toBeLessThanOrEqual(message.length)
    }
  })

  test('is another than its neighbour with the same cookie', async () => {
    const cookie = await fetchCookie()
    await flood('127.0.0.1')
    const message = withEdns(name, 'TXT', 1232, cookie)
    const answers = await exchangeUdpFrom('127.0.0.2', server, ...ids(message, 2))
    expect(answers.map(isWhole)).toEqual([false])
  })
})

test.each([
  ['198.51.100.1', '198.51.100.2', 'answer'],
  ['2001:db8:0:1::1', '2001:db8:0:2::1', 'answer'],
  ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', 'drop'],
  ['198.51.100.1', '::ffff:198.51.100.1', 'drop'],
])('of the known senders %s and %s the second gets: %s', (first, second, verdict) => {
  const judge = openSenderLimits(clock, { perSecond: 1, burst: 1 })
  expect(judge(first)).toBe('answer')
  expect(judge(second)).toBe(verdict)
})

describe('an answer without records to a sender who is not known', () => {
  const foreign = Buffer.concat([client, labBytes(16)])
  const outside = 'elsewhere.example'

  test.each<[string, Buffer, boolean]>([
    ['has no cookie where it would be longer than the question', client, false],
    ['has one where it is no longer', foreign, true],
  ])('%s', async (_, cookie, isExpected) => {
    const tooLong = withEdns(long, 'TXT', 1232, cookie)
    const elsewhere = withEdns(outside, 'TXT', 1232, cookie)
    const unknown = withEdns(name, 'TXT', 1232, cookie)
    unknown.writeUInt16BE(0x2800, 2)
    const answers = [
      [tooLong, await one(exchangeUdp(server, tooLong))],
      [elsewhere, await one(exchangeUdp(server, elsewhere))],
      [unknown, await one(exchangeUdp(server, unknown))],
    ] as const
    await flood('127.0.0.1')
    const [limitedTo = Buffer.alloc(12)] = await exchangeUdp(server, ...ids(elsewhere, 2))
    for (const [asked, answer] of [...answers, [elsewhere, limitedTo] as const]) {
      expect(cookieIn(answer) !== undefined).toBe(isExpected)
      expect(decode(answer).additionals).toHaveLength(1)
      expect(answer.length).toBeLessThanOrEqual(asked.length)
    }
  })

  test('has one over TCP, where nobody sends in the name of another', async () => {
    const answer = await one(exchangeTcp(server, withEdns(outside, 'TXT', 1232, client)))
    expect(rcodeOf(answer)).toBe(refused)
    expect(cookieIn(answer)).toHaveLength(24)
  })

  test('has one as well as a signature that is refused, and is no longer', async () => {
    const message = signed(withEdns(name, 'TXT', 1232, client), { ...key, name: 'other.example' }, 1)
    const answer = await one(exchangeUdp(server, message))
    expect(rcodeOf(answer)).toBe(notAuth)
    expect(answer.length).toBeLessThanOrEqual(message.length)
  })
})

describe('a signed answer over UDP', () => {
  const label = 'a'.repeat(60)
  const longName = `${label}.${label}.${label}.${label.slice(0, 53)}.${apex}`

  test('is cut without its signature where that does not fit, and has it over TCP', async () => {
    const given = { ...key, name: longName }
    const message = signed(question(longName, 'TXT'), given, 1)
    const answer = await one(exchangeUdp(server, message))
    expect(answer.length).toBeLessThanOrEqual(512)
    expect(decode(answer)).toMatchObject({ flag_tc: true, answers: [], additionals: [] })
    const whole = await one(exchangeTcp(server, message))
    expect(readSignature(whole, { key: given, query: message })).toMatchObject({ error: 17 })
  })

  test('is whole where its signature just fits', async () => {
    const message = signed(question(longName, 'TXT'), { ...key, name: 'other.example' }, 1)
    const answer = await one(exchangeUdp(server, message))
    expect(decode(answer).flag_tc).toBe(false)
    expect(rcodeOf(answer)).toBe(notAuth)
  })
})

describe('a responder', () => {
  const ip = '192.0.2.2'
  const asking = (id: number, ...cookies: Buffer[]) => {
    const message = withEdns(`n${id}.${apex}`, 'TXT', 1232, ...cookies)
    message.writeUInt16BE(id, 0)
    return message
  }
  function respond(answer: Zones['answer'], perSecond = 1) {
    const dropped: string[] = []
    const responder = new Responder({
      zones: { ...zones, answer },
      clock,
      lines: new RareLines({ clock, logger: silentLogger }),
      rate: { perSecond, burst: perSecond },
      observe: () => {},
      observeLimited: (outcome) => void dropped.push(outcome),
    })
    return { responder, dropped }
  }

  test('knows a sender again, in whatever form the socket gives the address', async () => {
    const { responder } = respond(zones.answer)
    const forms = [ip, `::ffff:${ip}`]
    for (const [given, shown] of [forms, forms.toReversed()] as [string, string][]) {
      clock.advance(1_000)
      const cookie = cookieIn((await responder.answerDatagram(asking(1, client), given)) ?? Buffer.alloc(12))
      for (const form of [given, shown])
        expect(isWhole((await responder.answerDatagram(asking(2, cookie ?? client), form)) ?? client)).toBe(
          form === given,
        )
    }
  })

  test('lets a known sender wait for the database beside those who ask in its name', async () => {
    const asked: string[] = []
    const held: (() => void)[] = []
    const { responder, dropped } = respond(async (question) => {
      asked.push(question.name)
      if (asked.length > 1) await new Promise<void>((resolve) => void held.push(resolve))
      return await zones.answer(question)
    }, 1000)
    const first = await responder.answerDatagram(asking(0, client), ip)
    const cookie = cookieIn(first ?? Buffer.alloc(12)) ?? client
    const forged = Array.from({ length: 200 }, (_, at) => responder.answerDatagram(asking(at + 1), ip))
    const known = responder.answerDatagram(asking(999, cookie), ip)
    while (!asked.includes(`n999.${apex}`)) {
      held.shift()?.()
      await new Promise(setImmediate)
    }
    expect(asked.length).toBeLessThan(25)
    expect(dropped).toEqual(Array(200 - 16 - 128).fill('dropped'))
    let isDone = false
    void Promise.all([known, ...forged]).then(() => {
      isDone = true
    })
    while (!isDone) {
      for (const letGo of held.splice(0)) letGo()
      await new Promise(setImmediate)
    }
    expect(isWhole((await known) ?? client)).toBe(true)
  })
})
