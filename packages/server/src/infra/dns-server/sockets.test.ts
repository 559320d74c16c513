import { createSocket } from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { decode } from 'dns-packet'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ownAddress } from '#harness/addresses.ts'
import { askTcp, askUdp, openTcp, question } from '#harness/dns-client.ts'
import { RecordedLog } from '#harness/recorded-log.ts'
import { TestClock } from '#harness/test-clock.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { type DnsServerOptions, openDnsServer } from './index.ts'
import { bindDns, closeSockets, type DnsSockets, type ListenAddress, openSender } from './sockets.ts'

const zones = {
  answer: async () => ({ rcode: 'NXDOMAIN' as const }),
  findTransferPolicy: async () => ({ networks: [], notified: [], key: undefined }),
  openTransfer: async () => undefined,
  watchChanges: () => async () => [],
}
const ofMachine = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
const hasIpv6 = ofMachine.some(({ address }) => address === '::1')
const anywhere = 'DNS questions to some addresses may be answered from another one'

async function start(hosts: readonly string[], options: Partial<DnsServerOptions> = {}) {
  const listen = hosts.map((host) => ({ host, port: 0 }))
  const server = await openDnsServer({
    listen,
    zones,
    clock: new TestClock(),
    logger: silentLogger,
    ...options,
  })
  onTestFinished(() => server.close())
  return server
}

async function bind(address: ListenAddress): Promise<DnsSockets> {
  const bound = await bindDns(address)
  onTestFinished(() => closeSockets(bound))
  return bound
}

async function openUdp(host: string, port = 0, reuseAddr = false) {
  const socket = createSocket({ type: isIPv4(host) ? 'udp4' : 'udp6', reuseAddr }).bind(port, host)
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return socket
}

/** Takes only an answer of the address that was asked, as resolvers do. */
async function askStrictly(from: string, { host, port }: ListenAddress): Promise<string> {
  const socket = await openUdp(from)
  socket.connect(port, host)
  await once(socket, 'connect')
  socket.send(question('names.example', 'SOA'))
  return await Promise.race([
    once(socket, 'message', { signal: AbortSignal.timeout(2_000) }).then(([answer]) => codeOf(answer)),
    once(socket, 'error').then(([error]) => String(error)),
  ]).catch(() => 'no answer')
}

function codeOf(answer: Buffer): string {
  return (decode(answer) as { rcode?: string }).rcode ?? ''
}

test('each address is answered over UDP and TCP, at a port of its own where none is given', async () => {
  const server = await start(['127.0.0.1', ownAddress()])
  expect(server.addresses.map(({ host }) => host)).toEqual(['127.0.0.1', ownAddress()])
  expect(server).toMatchObject(server.addresses[0] ?? {})
  for (const address of server.addresses)
    for (const ask of [askUdp, askTcp])
      expect(await ask(address, 'names.example', 'SOA')).toMatchObject({ rcode: 'NXDOMAIN' })
})

test.runIf(hasIpv6)('addresses of IPv4 and IPv6 are answered', async () => {
  const server = await start(['127.0.0.1', '::1'])
  for (const address of server.addresses) expect(await askStrictly(address.host, address)).toBe('NXDOMAIN')
})

test('of several addresses none is kept when one cannot be had', async () => {
  const taken = await bind({ host: '127.0.0.1', port: 0 })
  const free = { host: ownAddress(), port: taken.address.port }
  const listen = [free, taken.address]
  await expect(
    openDnsServer({ listen, zones, clock: new TestClock(), logger: silentLogger }),
  ).rejects.toThrow('EADDRINUSE')
  await bind(free)
})

test('connections to all addresses are counted together', async () => {
  const server = await start(['127.0.0.1', ownAddress()])
  const [one, other] = server.addresses as [ListenAddress, ListenAddress]
  const open = Array.from({ length: 20 }, () => openTcp(one, '127.0.0.1'))
  for (const each of open) each.ask(question('names.example', 'SOA'))
  await expect.poll(() => open.every((each) => each.answers().length > 0)).toBe(true)
  await openTcp(other, '127.0.0.1').closed
})

// A datagram that comes from another address than it goes to would otherwise be answered from the former.
test.each(['0.0.0.0', ...(hasIpv6 ? ['::'] : [])])(
  'a wildcard (%s) answers from each address that is asked',
  async (host) => {
    const { port } = await start([host])
    const isLinkLocal = (address: string) => address.startsWith('fe')
    const asked = ofMachine.filter(
      ({ address }) => (host === '::' || isIPv4(address)) && !isLinkLocal(address),
    )
    expect(asked.length).toBeGreaterThan(0)
    for (const { address } of asked) {
      const from = isIPv4(address) ? '127.0.0.1' : '::1'
      expect([address, await askStrictly(from, { host: address, port })]).toEqual([address, 'NXDOMAIN'])
    }
  },
)

test('a wildcard answers also from an address that is not the first of its network', async () => {
  const { port } = await start(['0.0.0.0'], { machineAddresses: () => ['127.0.0.1', ownAddress()] })
  expect(await askStrictly('127.0.0.1', { host: ownAddress(), port })).toBe('NXDOMAIN')
})

test('a wildcard answers at addresses that come later, and at those that it could not have, which is told once', async () => {
  const log = new RecordedLog()
  const missing = ['192.0.2.77', '198.51.100.77']
  const { port } = await start(['0.0.0.0'], { logger: log.logger, machineAddresses: () => missing })
  expect(await askUdp({ host: '127.0.0.1', port }, 'names.example', 'SOA')).toMatchObject({
    rcode: 'NXDOMAIN',
  })
  expect(log.of(anywhere)).toEqual([
    expect.objectContaining({ hosts: missing, err: expect.objectContaining({ code: 'EADDRNOTAVAIL' }) }),
  ])
})

test('a wildcard of IPv4 has no sockets for addresses of IPv6', async () => {
  const log = new RecordedLog()
  await start(['0.0.0.0'], { logger: log.logger, machineAddresses: () => ['2001:db8::77'] })
  expect(log.of(anywhere)).toEqual([])
})

test.each(['0.0.0.0', ownAddress()])(
  'a wildcard does not share its port with another program at %s',
  async (host) => {
    const other = await openUdp(host, 0, true)
    const wanted = { host: '0.0.0.0', port: other.address().port }
    await expect(bindDns(wanted)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  },
)

test.runIf(hasIpv6)('localhost is the same address over UDP as over TCP', async () => {
  type Callback = (error: null, found: string | object, family?: number) => void
  const lookUp = (_: string, options: { all?: boolean }, callback: Callback) =>
    options.all ? callback(null, [{ address: '::1', family: 6 }]) : callback(null, '::1', 6)
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(lookUp as never)
  onTestFinished(() => spy.mockRestore())
  const { address, udp, tcp } = await bind({ host: 'localhost', port: 0 })
  expect(address).toEqual({ host: '::1', port: udp[0].address().port })
  expect(tcp.address()).toMatchObject({ address: '::1' })
  expect(udp.map((each) => each.address().address)).toEqual(['::1'])
})

test('a connection that comes before there is a server is ended', async () => {
  const { address } = await bind({ host: '127.0.0.1', port: 0 })
  await openTcp(address).closed
})

/** At which address, and from which, a message to it is sent. */
function sentFrom(hosts: readonly string[], to: string): string {
  let sent = 'nowhere'
  const bound = hosts.map((host) => {
    const send = (_message: Buffer, _port: number, target: string) => {
      sent = `${host} to ${target}`
    }
    return { address: { host, port: 53 }, udp: [{ send }] } as unknown as DnsSockets
  })
  openSender(bound)(Buffer.alloc(12), { host: to, port: 53 })
  return sent
}

test.each([
  [['198.51.100.7', '198.51.100.8'], '192.0.2.53', '198.51.100.7 to 192.0.2.53'],
  [['2001:db8::7', '198.51.100.7'], '192.0.2.53', '198.51.100.7 to 192.0.2.53'],
  [['198.51.100.7', '2001:db8::7'], '2001:db8::53', '2001:db8::7 to 2001:db8::53'],
  // What goes out of a loopback address reaches nobody else.
  [['127.0.0.1', '198.51.100.7'], '192.0.2.53', '198.51.100.7 to 192.0.2.53'],
  [['127.0.0.1', '0.0.0.0'], '192.0.2.53', '0.0.0.0 to 192.0.2.53'],
  [['127.0.0.1', '198.51.100.7'], '127.0.0.9', '127.0.0.1 to 127.0.0.9'],
  [['0.0.0.0', '198.51.100.7'], '192.0.2.53', '198.51.100.7 to 192.0.2.53'],
  [['::', '0.0.0.0'], '192.0.2.53', '0.0.0.0 to 192.0.2.53'],
  [['::'], '192.0.2.53', ':: to ::ffff:192.0.2.53'],
  [['2001:db8::7', '::'], '192.0.2.53', ':: to ::ffff:192.0.2.53'],
  [['::ffff:198.51.100.7'], '192.0.2.53', '::ffff:198.51.100.7 to ::ffff:192.0.2.53'],
  [['::'], '2001:db8::53', ':: to 2001:db8::53'],
  [['198.51.100.7'], '2001:db8::53', 'nowhere'],
  [['0.0.0.0'], '2001:db8::53', 'nowhere'],
])('of %j what goes to %s is sent %s', (hosts, to, expected) => {
  expect(sentFrom(hosts, to)).toBe(expected)
})
