import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { decode } from 'dns-packet'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { Dice } from '#harness/dice.ts'
import {
  askTcp,
  askUdp,
  type ClientKey,
  exchangeTcp,
  exchangeUdp,
  exchangeUdpFrom,
  framed,
  type OpenConnection,
  openTcp,
  question,
  rcodeOf,
  readSignature,
  signed,
  withEdns,
} from '#harness/dns-client.ts'
import { runsOf } from '#harness/property-runs.ts'
import { RecordedLog } from '#harness/recorded-log.ts'
import { TestClock } from '#harness/test-clock.ts'
import { testSeed } from '#harness/test-seed.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import {
  type DnsServer,
  type DnsServerOptions,
  openDnsServer,
  type Question,
  type RecordData,
  type ResourceRecord,
  type TransferPolicy,
  type Zones,
} from './index.ts'

const clock = new TestClock()
const nowSecs = () => Math.floor(clock.now() / 1000)
const key: ClientKey = { name: 'transfer.example', secret: randomBytes(32) }
const apex = 'names.example'
const soa: ResourceRecord = {
  name: apex,
  ttl: 300,
  type: 'SOA',
  data: {
    primary: 'ns1.names.example',
    mailbox: 'hostmaster.names.example',
    serial: 7,
    refreshSecs: 600,
    retrySecs: 120,
    expireSecs: 1_209_600,
    negativeTtl: 60,
  },
}
const records: Readonly<Record<string, readonly RecordData[]>> = {
  'alice.names.example': [
    { type: 'A', data: '198.51.100.7' },
    { type: 'AAAA', data: '2001:db8::7' },
  ],
  'bob.names.example': [{ type: 'CNAME', data: 'alice.names.example' }],
  '_service.alice.names.example': [
    { type: 'TXT', data: `v=1 server=https://alice.names.example/${'x'.repeat(300)}` },
  ],
  'long.names.example': Array.from(
    { length: 9 },
    (_, at) => ({ type: 'TXT', data: `${at}`.repeat(250) }) as const,
  ),
  'names.example': [
    { type: 'NS', data: 'ns1.names.example' },
    { type: 'CAA', data: { flags: 0, tag: 'issue', value: 'ca.example' } },
  ],
}

let policy: TransferPolicy
let isBroken = false
let isPolicyBroken = false
const zones: Zones = {
  async answer({ name, type }) {
    if (isBroken) throw new Error('the database is gone')
    if (name !== apex && !name.endsWith(`.${apex}`)) return { rcode: 'REFUSED' }
    const found =
      name === apex && type === 'SOA' ? [soa] : toRecords(name).filter((record) => record.type === type)
    const rcode = records[name] ? 'NOERROR' : 'NXDOMAIN'
    return { rcode, isAuthoritative: true, answers: found, authority: found.length > 0 ? [] : [soa] }
  },
  async findTransferPolicy() {
    if (isPolicyBroken) throw new Error('the database is gone')
    return policy
  },
  async openTransfer(zone) {
    if (isBroken) throw new Error('the database is gone')
    if (zone !== apex) return undefined
    async function* all() {
      for (const name of Object.keys(records)) yield toRecords(name)
      for (let at = 0; at < 3; at += 1)
        yield Array.from({ length: 100 }, (_, n) =>
          toRecord(`h${at}-${n}.${apex}`, { type: 'A', data: '192.0.2.1' }),
        )
    }
    return { soa, records: all() }
  },
  watchChanges: () => async () => [],
}

function toRecord(name: string, data: RecordData): ResourceRecord {
  return { name, ttl: 60, ...data }
}

function toRecords(name: string): ResourceRecord[] {
  return (records[name] ?? []).map((data) => toRecord(name, data))
}

/** Another server, which ends with the test. */
async function startServer(options: Partial<DnsServerOptions> = {}): Promise<DnsServer & AsyncDisposable> {
  const listen = [{ host: '127.0.0.1', port: 0 }]
  const started = await openDnsServer({ listen, zones, clock, logger: silentLogger, ...options })
  return { ...started, [Symbol.asyncDispose]: () => started.close() }
}

/** What waits until it is let go. */
function holding() {
  const held: (() => void)[] = []
  return { held, hold: () => new Promise<void>((resolve) => void held.push(resolve)) }
}

let server: DnsServer
const told: string[] = []
const limited: string[] = []
beforeAll(async () => {
  server = await openDnsServer({
    listen: [{ host: '127.0.0.1', port: 0 }],
    zones,
    clock,
    logger: silentLogger,
    rate: { perSecond: 100, burst: 200 },
    observe: (rcode, transport) => void told.push(`${rcode} ${transport}`),
    observeLimited: (outcome) => void limited.push(outcome),
  })
})
afterAll(() => server.close())
beforeEach(() => {
  policy = { notified: [], networks: [], key: undefined }
  isBroken = false
  isPolicyBroken = false
  told.length = 0
  limited.length = 0
  clock.advance(10_000)
})

describe.each([
  ['UDP', askUdp],
  ['TCP', askTcp],
] as const)('over %s', (_, ask) => {
  test.each<[string, string, string, unknown]>([
    ['an IPv4 address', 'alice.names.example', 'A', '198.51.100.7'],
    ['an IPv6 address', 'alice.names.example', 'AAAA', '2001:db8::7'],
    ['an alias', 'bob.names.example', 'CNAME', 'alice.names.example'],
    ['the servers of a zone', apex, 'NS', 'ns1.names.example'],
    [
      'who may issue certificates',
      apex,
      'CAA',
      { flags: 0, tag: 'issue', value: 'ca.example', issuerCritical: false },
    ],
  ])('answers %s', async (_what, name, type, data) => {
    const answer = await ask(server, name, type)
    expect(answer).toMatchObject({
      id: 4711,
      type: 'response',
      rcode: 'NOERROR',
      flag_aa: true,
      flag_ra: false,
    })
    expect(answer.answers).toEqual([expect.objectContaining({ name, type, data, class: 'IN' })])
  })

  test('answers a text in strings of 255 bytes at most', async () => {
    const { answers } = await ask(server, '_service.alice.names.example', 'TXT')
    const [{ data } = { data: [] }] = (answers ?? []) as { data: Buffer[] }[]
    expect(data.map((part) => part.length)).toEqual([255, 84])
  })

  test('answers with the SOA record that there is no such name', async () => {
    const answer = await ask(server, 'nobody.names.example', 'A')
    expect(answer).toMatchObject({ rcode: 'NXDOMAIN', flag_aa: true, answers: [] })
    expect(answer.authorities).toEqual([
      expect.objectContaining({
        name: apex,
        type: 'SOA',
        data: {
          mname: 'ns1.names.example',
          rname: 'hostmaster.names.example',
          serial: 7,
          refresh: 600,
          retry: 120,
          expire: 1_209_600,
          minimum: 60,
        },
      }),
    ])
  })

  test('refuses other zones and questions for everything', async () => {
    expect(await ask(server, 'elsewhere.example', 'A')).toMatchObject({ rcode: 'REFUSED' })
    expect(await ask(server, 'alice.names.example', 'ANY')).toMatchObject({ rcode: 'REFUSED' })
  })

  test('keeps the case of the letters that were asked', async () => {
    const answer = await ask(server, 'aLiCe.NaMeS.eXaMpLe', 'A')
    expect(answer.questions).toEqual([expect.objectContaining({ name: 'aLiCe.NaMeS.eXaMpLe' })])
    expect(answer.answers).toEqual([expect.objectContaining({ name: 'aLiCe.NaMeS.eXaMpLe' })])
  })

  test('says that it failed, and tells nothing more', async () => {
    isBroken = true
    expect(await ask(server, 'alice.names.example', 'A')).toMatchObject({ rcode: 'SERVFAIL', answers: [] })
  })
})

test('counts each answer by its code', async () => {
  await askUdp(server, 'nobody.names.example', 'A')
  await askTcp(server, apex, 'SOA')
  expect(told).toEqual(['NXDOMAIN udp', 'NOERROR tcp'])
})

describe('without its database', () => {
  const servFail = 2
  const exchanges = { UDP: exchangeUdp, TCP: exchangeTcp }
  const signedBy = (type: string) => signed(question(apex, type), key, nowSecs())

  test.each<['UDP' | 'TCP', string, Buffer]>([
    ['UDP', 'IXFR', question(apex, 'IXFR')],
    ['UDP', 'a signed question', signedBy('SOA')],
    ['TCP', 'a signed question', signedBy('SOA')],
    ['TCP', 'AXFR', question(apex, 'AXFR')],
    ['TCP', 'a signed AXFR', signedBy('AXFR')],
  ])('says over %s that it failed to answer %s', async (transport, _, message) => {
    isBroken = true
    isPolicyBroken = true
    const [answer = Buffer.alloc(4), ...more] = await exchanges[transport](server, message)
    expect(more).toEqual([])
    expect(rcodeOf(answer)).toBe(servFail)
    expect(readSignature(answer, { key, query: message })).toBe(undefined)
    expect(told).toEqual([`SERVFAIL ${transport.toLowerCase()}`])
  })

  test.each(['AXFR', 'SOA'])('signs where it knows the key that %s failed', async (type) => {
    policy = { notified: [], networks: ['127.0.0.1'], key }
    isBroken = true
    const query = signed(question(apex, type), key, nowSecs())
    const [answer = Buffer.alloc(4)] = await exchangeTcp(server, query)
    expect(rcodeOf(answer)).toBe(servFail)
    expect(readSignature(answer, { key, query })).toMatchObject({ error: 0, isRight: true })
  })
})

describe('lines of the log that anybody can cause', () => {
  test.each([
    ['a zone transfer was refused', 'AXFR'],
    ['a DNS question could not be answered', 'A'],
  ])('are written once a minute: %s', async (line, type) => {
    const { logger, lines } = new RecordedLog()
    await using other = await startServer({ logger })
    isBroken = true
    const written = () =>
      lines
        .map((each) => JSON.parse(each))
        .filter(({ msg }) => msg === line)
        .map(({ leftOut }) => leftOut)
    const ask = (count: number) =>
      exchangeTcp(other, ...Array.from({ length: count }, () => question(apex, type)))
    await ask(50)
    clock.advance(59_999)
    await ask(50)
    expect(written()).toEqual([undefined])
    clock.advance(1)
    await ask(2)
    expect(written()).toEqual([undefined, 99])
    clock.advance(60_000)
    await ask(1)
    clock.advance(60_000)
    await ask(1)
    expect(written()).toEqual([undefined, 99, 1, undefined])
  })
})

describe('an answer over UDP', () => {
  test.each([
    ['is whole in 512 bytes without EDNS', question('_service.alice.names.example', 'TXT'), false],
    ['is cut beyond 512 bytes without EDNS', question('long.names.example', 'TXT'), true],
    [
      'is cut beyond 1232 bytes, however many the client takes',
      withEdns('long.names.example', 'TXT', 4096),
      true,
    ],
  ])('%s', async (_, message, isTruncated) => {
    const [answer = Buffer.alloc(0)] = await exchangeUdp(server, message)
    expect(answer.length).toBeLessThanOrEqual(512)
    expect(decode(answer)).toMatchObject({
      flag_tc: isTruncated,
      answers: isTruncated ? [] : [expect.anything()],
    })
  })

  test('that was cut comes whole over TCP', async () => {
    expect((await askTcp(server, 'long.names.example', 'TXT')).answers).toHaveLength(9)
  })
})

describe('EDNS', () => {
  test('is answered with what this server takes', async () => {
    const [answer = Buffer.alloc(0)] = await exchangeUdp(server, withEdns('alice.names.example', 'A'))
    expect(decode(answer).additionals).toEqual([
      expect.objectContaining({ type: 'OPT', udpPayloadSize: 1232 }),
    ])
  })

  test('is not answered to those who do not have it', async () => {
    expect((await askUdp(server, 'alice.names.example', 'A')).additionals).toEqual([])
  })

  test('of a later version is told the version that is known', async () => {
    const message = withEdns('alice.names.example', 'A')
    // The version stands six bytes before the end: after it come flags and the length of no options.
    message.writeUInt8(1, message.length - 5)
    const [answer = Buffer.alloc(0)] = await exchangeUdp(server, message)
    const [opt] = decode(answer).additionals ?? []
    expect(opt).toMatchObject({ extendedRcode: 1, ednsVersion: 0 })
    expect(rcodeOf(answer)).toBe(0)
  })
})

describe('what is not supported', () => {
  const answerTo = async (message: Buffer) => {
    const [answer = Buffer.alloc(12)] = await exchangeUdp(server, message)
    expect(answer.length).toBeLessThanOrEqual(message.length)
    return { ...decode(answer), rcode: rcodeOf(answer) }
  }
  const notImp = 4

  test('is answered with the question, and with EDNS to those who have it', async () => {
    const plain = question('alice.names.example', 'A')
    const extended = withEdns('alice.names.example', 'A')
    for (const message of [plain, extended]) message.writeUInt16BE(0x2800, 2)
    const questions = [expect.objectContaining({ name: 'alice.names.example', type: 'A' })]
    expect(await answerTo(plain)).toMatchObject({ rcode: notImp, questions, answers: [], additionals: [] })
    const additionals = [expect.objectContaining({ type: 'OPT', udpPayloadSize: 1232 })]
    expect(await answerTo(extended)).toMatchObject({ rcode: notImp, questions, answers: [], additionals })
  })

  test('is answered with a header alone when it cannot be read', async () => {
    const message = withEdns('alice.names.example', 'A').subarray(0, -1)
    message.writeUInt16BE(0x2800, 2)
    expect(await answerTo(message)).toMatchObject({ rcode: notImp, questions: [], additionals: [] })
  })
})

describe('hostile messages', () => {
  const probe = () => question(apex, 'SOA', { id: 99 })
  /** What is answered before the answer to a question that follows. */
  const answersTo = async (...messages: Buffer[]) => {
    const answers = await exchangeUdp(server, ...messages, probe())
    return answers.slice(0, -1).map(rcodeOf)
  }
  const [formErr, notImp] = [1, 4]
  const with16 = (at: number, value: number) => (message: Buffer) => {
    message.writeUInt16BE(value, at)
    return message
  }

  test('that are answers get no answer', async () => {
    const answer = question('alice.names.example', 'A')
    answer.writeUInt16BE(0x8000, 2)
    expect(await answersTo(answer)).toEqual([])
    expect(await exchangeTcp(server, answer)).toEqual([])
  })

  test('that are shorter than a head get no answer', async () => {
    expect(await answersTo(Buffer.alloc(0), Buffer.alloc(11))).toEqual([])
  })

  test.each<[string, number, (message: Buffer) => Buffer]>([
    ['of another kind than a question', notImp, with16(2, 0x2800)],
    ['with no question', formErr, with16(4, 0)],
    ['with two questions', formErr, with16(4, 2)],
    ['that end within the name', formErr, (m) => m.subarray(0, 20)],
    ['that end before the type', formErr, (m) => m.subarray(0, m.length - 3)],
    ['with bytes after the end', formErr, (m) => Buffer.concat([m, Buffer.of(0)])],
    ['that promise records they do not have', formErr, with16(10, 3)],
    ['whose name points at itself', formErr, with16(12, 0xc00c)],
    ['whose name has labels of an unknown kind', formErr, with16(12, 0x4161)],
  ])('%s', async (_, code, spoil) => {
    expect(await answersTo(spoil(question('alice.names.example', 'A')))).toEqual([code])
  })

  test('with names that are too long', async () => {
    const label = `${'a'.repeat(60)}`
    const longest = question([label, label, label, label.slice(0, 53), apex].join('.'), 'A')
    const tooLong = question([label, label, label, label, 'aa', apex].join('.'), 'A')
    expect(await answersTo(longest)).toEqual([3])
    expect(await answersTo(tooLong)).toEqual([formErr])
  })

  test('with names that no host has are names that do not exist', async () => {
    const message = question('xxxxx.names.example', 'A')
    message.write('a.b\0\xff', 13, 'latin1')
    const [answer = Buffer.alloc(0)] = await exchangeUdp(server, message)
    expect(rcodeOf(answer)).toBe(3)
    expect(answer.subarray(12, message.length)).toEqual(message.subarray(12))
  })

  test('of any bytes never stop the server', async () => {
    const seed = testSeed()
    const dice = new Dice(seed)
    const next = (below: number) => dice.below(below)
    const starts = [
      withEdns('alice.names.example', 'A'),
      signed(question(apex, 'AXFR'), key, nowSecs()),
      probe(),
    ]
    for (let round = 0; round < runsOf(10); round += 1) {
      clock.advance(10_000)
      const messages = Array.from({ length: 50 }, () => {
        const message = Buffer.from(starts[next(starts.length)] ?? probe())
        for (let changes = next(6); changes > 0; changes -= 1) message[next(message.length)] = next(256)
        message.writeUInt16BE(1, 0)
        return message.subarray(0, next(4) === 0 ? next(message.length + 1) : message.length)
      })
      const [last] = (await exchangeUdp(server, ...messages, probe())).slice(-1)
      expect(rcodeOf(last ?? Buffer.alloc(4)), `TEST_SEED=${seed}`).toBe(0)
      await exchangeTcp(server, ...messages.slice(0, 10))
    }
  })
})

describe('a network that asks too much', () => {
  const flood = (count: number, firstId: number) =>
    Array.from({ length: count }, (_, at) => question('alice.names.example', 'A', { id: firstId + at }))

  test('is sent to TCP with short answers, and not answered at all every other time', async () => {
    const first = await exchangeUdp(server, ...flood(200, 0))
    expect(first.filter((answer) => !decode(answer).flag_tc)).toHaveLength(200)
    const second = await exchangeUdp(server, ...flood(40, 1000))
    expect(second).toHaveLength(20)
    expect(limited.filter((outcome) => outcome === 'truncated')).toHaveLength(20)
    expect(limited.filter((outcome) => outcome === 'dropped')).toHaveLength(20)
    for (const answer of second) {
      expect(decode(answer)).toMatchObject({ flag_tc: true, answers: [] })
      expect(answer.length).toBeLessThanOrEqual(question('alice.names.example', 'A').length)
    }
    expect((await askTcp(server, 'alice.names.example', 'A')).answers).toHaveLength(1)
    clock.advance(1000)
    const third = await exchangeUdp(server, ...flood(100, 2000))
    expect(third.filter((answer) => !decode(answer).flag_tc)).toHaveLength(100)
  })
})

describe('connections', () => {
  test('are answered question after question', async () => {
    const ids = [5, 6, 7]
    const answers = await exchangeTcp(server, ...ids.map((id) => question(apex, 'SOA', { id })))
    expect(answers.map((answer) => answer.readUInt16BE(0))).toEqual(ids)
  })

  test('that ask nothing whole for ten seconds are ended', async () => {
    const { socket, closed } = openTcp(server)
    socket.write(framed(question(apex, 'SOA')))
    await once(socket, 'data')
    clock.advance(9_999)
    socket.write(Buffer.of(0, 30, 1, 2))
    await exchangeTcp(server, question(apex, 'SOA'))
    expect(socket.closed).toBe(false)
    clock.advance(1)
    await closed
  })

  test('that announce a long question are ended', async () => {
    const { socket, closed } = openTcp(server)
    socket.write(Buffer.of(0xff, 0xff))
    await closed
  })

  const answered = async (...asked: OpenConnection[]) => {
    const before = asked.map((each) => each.answers().length)
    for (const each of asked) each.ask(question(apex, 'SOA'))
    await expect.poll(() => asked.every((each, at) => each.answers().length > (before[at] ?? 0))).toBe(true)
  }
  const openFrom = (to: DnsServer, network: number, count: number) =>
    Array.from({ length: count }, () => openTcp(to, `127.0.${network}.1`))
  /** As many as there may be in all, from ten networks. */
  const openAll = (to: DnsServer) => Array.from({ length: 10 }, (_, at) => openFrom(to, at, 20)).flat()

  test('of one network are bounded', async () => {
    await using other = await startServer()
    const first = openFrom(other, 0, 20)
    await answered(...first)
    const [more] = openFrom(other, 0, 1)
    await more?.closed
    expect(first.some((each) => each.socket.closed)).toBe(false)
  })

  test('above the bound take the place of the one that asked longest ago', async () => {
    await using other = await startServer()
    const all = openAll(other)
    await answered(...all)
    const [first, second, ...rest] = all as [OpenConnection, OpenConnection, ...OpenConnection[]]
    await answered(first)
    await answered(...openFrom(other, 10, 1))
    await second.closed
    expect([first, ...rest].filter((each) => each.socket.closed)).toEqual([])
    await answered(first, ...rest.slice(1), ...openFrom(other, 11, 1))
    await rest[0]?.closed
  })

  test('above the bound are ended while all others wait for answers', async () => {
    const { held, hold } = holding()
    const answer = async (asked: Question) => {
      await hold()
      return await zones.answer(asked)
    }
    await using other = await startServer({ zones: { ...zones, answer } })
    const all = openAll(other)
    for (const each of all) each.ask(question(apex, 'SOA'))
    await expect.poll(() => held.length).toBe(200)
    const [more] = openFrom(other, 10, 1)
    await more?.closed
    for (const letGo of held.splice(0)) letGo()
    await expect.poll(() => all.every((each) => each.answers().length === 1)).toBe(true)
  })

  test('let others have a turn after each question', async () => {
    let asked = 0
    const askedByTurn: number[] = []
    const answer = async (given: Question) => {
      if (asked === 0) setImmediate(() => void askedByTurn.push(asked))
      asked += 1
      return await zones.answer(given)
    }
    await using other = await startServer({ zones: { ...zones, answer } })
    const client = openTcp(other)
    client.ask(...Array.from({ length: 100 }, () => question(apex, 'SOA')))
    await expect.poll(() => client.answers().length).toBe(100)
    expect(askedByTurn[0]).toBeLessThan(3)
  })

  test('whose network asks too much are answered at its rate, however long they wait', async () => {
    await using other = await startServer({ rate: { perSecond: 0.05, burst: 3 } })
    const startMs = clock.now()
    const [client, neighbour] = [openTcp(other), openTcp(other)]
    client.ask(...[1, 2, 3, 4].map((id) => question(apex, 'SOA', { id })))
    await expect.poll(() => client.answers().length).toBe(3)
    neighbour.ask(question(apex, 'SOA'))
    await answered(...openFrom(other, 1, 1))
    const passes = (connection: OpenConnection, count: number) => {
      const passSecond = () => {
        clock.advance(1000)
        return connection.answers().length
      }
      return expect.poll(passSecond, { interval: 5 }).toBe(count)
    }
    await passes(client, 4)
    expect(clock.now() - startMs).toBeGreaterThanOrEqual(20_000)
    await passes(neighbour, 1)
    expect(clock.now() - startMs).toBeGreaterThanOrEqual(40_000)
  })
})

test('questions that wait for the database are answered for each network in its turn', async () => {
  const asked: string[] = []
  const { held, hold } = holding()
  const dropped: string[] = []
  const answer: Zones['answer'] = async (asking) => {
    asked.push(asking.name)
    await hold()
    return await zones.answer(asking)
  }
  await using other = await startServer({
    zones: { ...zones, answer },
    observeLimited: (outcome) => void dropped.push(outcome),
  })
  const flooder = createSocket('udp4')
  onTestFinished(() => void flooder.close())
  for (let id = 0; id < 160; id += 1)
    flooder.send(question(`n${id}.${apex}`, 'A', { id }), other.port, '127.0.0.1')
  await expect.poll(() => [held.length, dropped.length]).toEqual([16, 160 - 16 - 128])
  const answered = exchangeUdpFrom('127.0.1.1', other, question(`alice.${apex}`, 'A'))
  await expect
    .poll(() => {
      held.shift()?.()
      return asked.at(-1)
    })
    .toBe(`alice.${apex}`)
  // Of the others more than a hundred are waiting still.
  expect(asked.length).toBeLessThan(40)
  const isDone = answered.then(() => true)
  await expect
    .poll(async () => {
      for (const letGo of held.splice(0)) letGo()
      return await Promise.race([isDone, false])
    })
    .toBe(true)
})

describe('a zone transfer', () => {
  const transfer = async (message: Buffer) => {
    const answers = await exchangeTcp(server, message)
    return answers.flatMap((answer) => decode(answer).answers ?? [])
  }
  const refused = 5
  const notAuth = 9
  const wholeZone = Object.values(records).flat().length + 300 + 2

  test('is refused to everybody whose address is not listed', async () => {
    const [answer = Buffer.alloc(4)] = await exchangeTcp(server, question(apex, 'AXFR'))
    expect(rcodeOf(answer)).toBe(refused)
    policy = { notified: [], networks: ['192.0.2.0/24', 'nonsense', '::/0'], key: undefined }
    expect(await transfer(question(apex, 'AXFR'))).toEqual([])
  })

  test.each(['AXFR', 'IXFR'])('(%s) gives everything between two SOA records', async (type) => {
    policy = { notified: [], networks: ['127.0.0.0/8'], key: undefined }
    const all = await transfer(question(apex, type))
    expect(all).toHaveLength(wholeZone)
    expect([all[0]?.type, all.at(-1)?.type]).toEqual(['SOA', 'SOA'])
    expect(all.filter(({ type: each }) => each === 'SOA')).toHaveLength(2)
  })

  test('of another zone is refused', async () => {
    policy = { notified: [], networks: ['127.0.0.1'], key: undefined }
    const [answer = Buffer.alloc(4)] = await exchangeTcp(server, question(`alice.${apex}`, 'AXFR'))
    expect(rcodeOf(answer)).toBe(notAuth)
  })

  test('is not given over UDP', async () => {
    policy = { notified: [], networks: ['127.0.0.1'], key: undefined }
    expect(await askUdp(server, apex, 'AXFR')).toMatchObject({ rcode: 'REFUSED' })
    expect((await askUdp(server, apex, 'IXFR')).answers).toEqual([expect.objectContaining({ type: 'SOA' })])
  })

  test('with a key is signed in every message', async () => {
    policy = { notified: [], networks: ['127.0.0.1'], key }
    const query = signed(question(apex, 'AXFR'), key, nowSecs())
    const answers = await exchangeTcp(server, query)
    expect(answers.length).toBeGreaterThan(2)
    let before = query
    for (const [at, answer] of answers.entries()) {
      const signature = readSignature(answer, { key, query: before, isLater: at > 0 })
      expect(signature).toMatchObject({ error: 0, isRight: true })
      before = signature?.mac ?? before
    }
  })

  test('with a key is refused without it, and from elsewhere with it', async () => {
    policy = { notified: [], networks: ['127.0.0.1'], key }
    const [unsigned = Buffer.alloc(4)] = await exchangeTcp(server, question(apex, 'AXFR'))
    expect(rcodeOf(unsigned)).toBe(refused)
    policy = { notified: [], networks: ['192.0.2.1'], key }
    const query = signed(question(apex, 'AXFR'), key, nowSecs())
    const [elsewhere = Buffer.alloc(4)] = await exchangeTcp(server, query)
    expect(rcodeOf(elsewhere)).toBe(refused)
    expect(readSignature(elsewhere, { key, query })).toMatchObject({ error: 0, isRight: true })
  })

  test.each<[string, number, ClientKey, number]>([
    ['another secret', 16, { ...key, secret: randomBytes(32) }, 0],
    ['another name', 17, { ...key, name: 'other.example' }, 0],
    ['a clock that is wrong', 18, key, 301],
  ])('is refused with %s', async (_, error, given, lateSecs) => {
    policy = { notified: [], networks: ['127.0.0.1'], key }
    const query = signed(question(apex, 'AXFR'), given, nowSecs() - lateSecs)
    const [answer = Buffer.alloc(12), ...more] = await exchangeTcp(server, query)
    expect(more).toEqual([])
    expect(rcodeOf(answer)).toBe(notAuth)
    expect(readSignature(answer, { key: given, query })).toMatchObject({ error })
    expect(answer.readUInt16BE(6)).toBe(0)
  })

  test.each<[string, number, number, number | undefined]>([
    ['FORMERR when it is shorter than half', 15, 1, undefined],
    ['FORMERR when there is none', 0, 1, undefined],
    ['BADTRUNC when it is half', 16, notAuth, 22],
    ['BADTRUNC when it lacks one byte', 31, notAuth, 22],
  ])('with a signature that was cut is %s', async (_, macBytes, rcode, error) => {
    policy = { notified: [], networks: ['127.0.0.1'], key }
    const query = signed(question(apex, 'AXFR'), key, nowSecs(), macBytes)
    const [answer = Buffer.alloc(12), ...more] = await exchangeTcp(server, query)
    expect(more).toEqual([])
    expect(rcodeOf(answer)).toBe(rcode)
    expect(readSignature(answer, { key, query })?.error).toBe(error)
  })

  test('with half of a wrong signature is refused for that', async () => {
    policy = { notified: [], networks: ['127.0.0.1'], key }
    const query = signed(question(apex, 'AXFR'), { ...key, secret: randomBytes(32) }, nowSecs(), 16)
    const [answer = Buffer.alloc(12)] = await exchangeTcp(server, query)
    expect(readSignature(answer, { key, query })?.error).toBe(16)
  })

  test.each(['AXFR', 'IXFR'])('(%s) of another class is refused', async (type) => {
    policy = { notified: [], networks: ['127.0.0.1'], key: undefined }
    const chaos = question(apex, '', { questions: [{ name: apex, type: type as 'A', class: 'CH' }] })
    const answers = await exchangeTcp(server, chaos)
    expect(answers.map(rcodeOf)).toEqual([refused])
  })

  test.each(['AXFR', 'IXFR'])(
    '(%s) with a later version of EDNS is told the one that is known',
    async (type) => {
      policy = { notified: [], networks: ['127.0.0.1'], key: undefined }
      const message = withEdns(apex, type)
      message.writeUInt8(1, message.length - 5)
      const [answer = Buffer.alloc(0), ...more] = await exchangeTcp(server, message)
      expect(more).toEqual([])
      expect(decode(answer)).toMatchObject({
        answers: [],
        additionals: [{ extendedRcode: 1, ednsVersion: 0 }],
      })
    },
  )

  /** An IXFR question of a secondary that has this serial. The names in its SOA record are pointers to that of the question. */
  const since = (serial: number) => {
    const message = question(apex, 'IXFR')
    const authority = Buffer.alloc(36)
    authority.writeUInt16BE(0xc00c, 0)
    authority.writeUInt16BE(6, 2)
    authority.writeUInt16BE(1, 4)
    authority.writeUInt16BE(24, 10)
    authority.writeUInt16BE(0xc00c, 12)
    authority.writeUInt16BE(0xc00c, 14)
    authority.writeUInt32BE(serial, 16)
    message.writeUInt16BE(1, 8)
    return Buffer.concat([message, authority])
  }

  test.each([
    ['the current version', 7, 1],
    ['a newer version', 8, 1],
    ['a version that is newer by almost half a round', 7 + 2 ** 31 - 1, 1],
    ['an older version', 6, wholeZone],
    ['a version before serials went round', 2 ** 32 - 1, wholeZone],
  ])('to a client that has %s', async (_, serial, count) => {
    policy = { notified: [], networks: ['127.0.0.1'], key: undefined }
    const all = await transfer(since(serial))
    expect(all).toHaveLength(count)
    expect(all[0]).toMatchObject({ type: 'SOA', data: { serial: 7 } })
  })

  test('with a serial that was cut off cannot be read', async () => {
    policy = { notified: [], networks: ['127.0.0.1'], key: undefined }
    const message = since(7)
    message.writeUInt16BE(7, message.length - 26)
    const answers = await exchangeTcp(server, message.subarray(0, message.length - 17))
    expect(answers.map(rcodeOf)).toEqual([1])
  })

  test('beyond four, of one address or of many, waits for its turn, however long, unless its client is gone', async () => {
    policy = { notified: [], networks: ['127.0.0.0/8'], key: undefined }
    const opened: string[] = []
    const { held, hold } = holding()
    const openTransfer = async (zone: string) => {
      opened.push(zone)
      await hold()
      return await zones.openTransfer(zone)
    }
    await using other = await startServer({ zones: { ...zones, openTransfer } })
    const start = async (address = '127.0.0.1') => {
      const connection = openTcp(other, address)
      connection.ask(question(apex, 'SOA'), question(apex, 'AXFR'))
      await expect.poll(() => connection.answers().length).toBe(1)
      return connection
    }
    const four = [await start(), await start(), await start('127.0.0.2'), await start('127.0.1.1')]
    await expect.poll(() => held.length).toBe(4)
    const [gone, next] = [await start(), await start('127.0.0.3')]
    clock.advance(60_000)
    gone.socket.resetAndDestroy()
    await askTcp(other, apex, 'SOA')
    held.shift()?.()
    await expect.poll(() => held.length).toBe(4)
    for (const letGo of held.splice(0)) letGo()
    await expect.poll(() => [...four, next].map((each) => each.answers().length)).toEqual([5, 5, 5, 5, 5])
    expect(opened).toHaveLength(5)
  })

  test('is announced by a signed question for the serial', async () => {
    policy = { notified: [], networks: ['127.0.0.1'], key }
    const query = signed(question(apex, 'SOA'), key, nowSecs())
    const [answer = Buffer.alloc(12)] = await exchangeUdp(server, query)
    expect(readSignature(answer, { key, query })).toMatchObject({ error: 0, isRight: true })
    expect(answer.readUInt16BE(6)).toBe(1)
  })
})
