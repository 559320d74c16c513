import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { decode } from 'dns-packet'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Dice } from '#harness/dice.ts'
import {
  askTcp,
  askUdp,
  type ClientKey,
  exchangeTcp,
  exchangeUdp,
  framed,
  question,
  rcodeOf,
  readSignature,
  signed,
  withEdns,
} from '#harness/dns-client.ts'
import { runsOf } from '#harness/property-runs.ts'
import { TestClock } from '#harness/test-clock.ts'
import { testSeed } from '#harness/test-seed.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import {
  type DnsServer,
  openDnsServer,
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
const zones: Zones = {
  async answer({ name, type }) {
    if (isBroken) throw new Error('the database is gone')
    if (name !== apex && !name.endsWith(`.${apex}`)) return { rcode: 'REFUSED' }
    const found =
      name === apex && type === 'SOA' ? [soa] : toRecords(name).filter((record) => record.type === type)
    const rcode = records[name] ? 'NOERROR' : 'NXDOMAIN'
    return { rcode, isAuthoritative: true, answers: found, authority: found.length > 0 ? [] : [soa] }
  },
  findTransferPolicy: async () => policy,
  async openTransfer(zone) {
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

let server: DnsServer
const told: string[] = []
const limited: string[] = []
beforeAll(async () => {
  server = await openDnsServer({
    listen: { host: '127.0.0.1', port: 0 },
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

  /** A connection whose answers are not looked at. */
  const open = (to: DnsServer) => {
    const socket = connect(to)
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
    // The server may end it with what was sent unread.
    socket.on('error', () => {})
    return { socket, closed }
  }

  test('that ask nothing whole for ten seconds are ended', async () => {
    const { socket, closed } = open(server)
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
    const { socket, closed } = open(server)
    socket.resume()
    socket.write(Buffer.of(0xff, 0xff))
    await closed
  })

  test('of one network are bounded', async () => {
    const other = await openDnsServer({
      listen: { host: '127.0.0.1', port: 0 },
      zones,
      clock,
      logger: silentLogger,
    })
    const first = Array.from({ length: 20 }, () => open(other))
    for (const { socket } of first) {
      socket.write(framed(question(apex, 'SOA')))
      await once(socket, 'data')
    }
    const { socket, closed } = open(other)
    socket.resume()
    await closed
    expect(first.some((each) => each.socket.closed)).toBe(false)
    await other.close()
    await Promise.all(first.map((each) => each.closed))
  })
})

describe('a zone transfer', () => {
  const transfer = async (message: Buffer) => {
    const answers = await exchangeTcp(server, message)
    return answers.flatMap((answer) => decode(answer).answers ?? [])
  }
  const refused = 5
  const notAuth = 9

  test('is refused to everybody whose address is not listed', async () => {
    const [answer = Buffer.alloc(4)] = await exchangeTcp(server, question(apex, 'AXFR'))
    expect(rcodeOf(answer)).toBe(refused)
    policy = { notified: [], networks: ['192.0.2.0/24', 'nonsense', '::/0'], key: undefined }
    expect(await transfer(question(apex, 'AXFR'))).toEqual([])
  })

  test.each(['AXFR', 'IXFR'])('(%s) gives everything between two SOA records', async (type) => {
    policy = { notified: [], networks: ['127.0.0.0/8'], key: undefined }
    const all = await transfer(question(apex, type))
    const total = Object.values(records).flat().length + 300
    expect(all).toHaveLength(total + 2)
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

  test('is announced by a signed question for the serial', async () => {
    policy = { notified: [], networks: ['127.0.0.1'], key }
    const query = signed(question(apex, 'SOA'), key, nowSecs())
    const [answer = Buffer.alloc(12)] = await exchangeUdp(server, query)
    expect(readSignature(answer, { key, query })).toMatchObject({ error: 0, isRight: true })
    expect(answer.readUInt16BE(6)).toBe(1)
  })
})
