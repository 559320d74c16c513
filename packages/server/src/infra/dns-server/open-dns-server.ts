import type { Socket as UdpSocket } from 'node:dgram'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { errorCode } from '#lib/system-error.ts'
import { defaultNetworkRate, type NetworkRate, openNetworkPace } from './network-limits.ts'
import { Notifier } from './notifier.ts'
import { RareLines } from './rare-lines.ts'
import { Responder, type ResponderDeps } from './responder.ts'
import {
  type BindOptions,
  bindAll,
  closeSockets,
  type DnsSockets,
  type ListenAddress,
  openSender,
} from './sockets.ts'
import { openConnections } from './tcp-connection.ts'
import type { Zones } from './zones.ts'

export interface DnsServerOptions {
  /** At least one. */
  readonly listen: readonly ListenAddress[]
  readonly zones: Zones
  readonly clock: Clock
  readonly logger: Logger
  readonly rate?: NetworkRate
  readonly observe?: ResponderDeps['observe']
  readonly observeLimited?: ResponderDeps['observeLimited']
  /** For tests; without it those of the network interfaces. */
  readonly machineAddresses?: BindOptions['machineAddresses']
}

/** An authoritative name server for its own zones, without recursion. */
export interface DnsServer {
  /** Of the first address. */
  readonly host: string
  readonly port: number
  readonly addresses: readonly ListenAddress[]
  close(): Promise<void>
}

/** Listens on UDP and TCP. */
export async function openDnsServer(options: DnsServerOptions): Promise<DnsServer> {
  const { listen, zones, clock, logger, rate = defaultNetworkRate, machineAddresses } = options
  const { observe = () => {}, observeLimited = () => {} } = options
  const lines = new RareLines({ clock, logger })
  const responder = new Responder({ zones, clock, lines, rate, observe, observeLimited })
  const waitMsOf = openNetworkPace(clock, rate)
  const { open, serve } = openConnections({ responder, clock, lines, waitMsOf })
  const bound = await bindAll(listen, { accept: serve, machineAddresses })
  const addresses = bound.map(({ address }) => address)
  const [first] = addresses
  if (!first) throw new Error('a DNS server needs an address')
  tellUnbound(bound, logger)
  const notifier = new Notifier({ zones, clock, logger, send: openSender(bound) })
  const serving = { responder, notifier, logger, lines }
  for (const { udp } of bound) for (const socket of udp) answerDatagrams(socket, serving)
  return {
    ...first,
    addresses,
    async close() {
      await notifier.close()
      const closed = bound.map(closeSockets)
      for (const socket of open) socket.destroy()
      await Promise.all(closed)
    },
  }
}

function tellUnbound(bound: readonly DnsSockets[], logger: Logger): void {
  const unbound = bound.flatMap((each) => each.unbound)
  if (unbound.length === 0) return
  const hosts = unbound.map(({ host }) => host)
  logger.warn(
    { hosts, err: unbound[0]?.error },
    'DNS questions to some addresses may be answered from another one',
  )
}

interface Serving {
  readonly responder: Responder
  readonly notifier: Notifier
  readonly logger: Logger
  readonly lines: RareLines
}

function answerDatagrams(udp: UdpSocket, { responder, notifier, logger, lines }: Serving): void {
  udp.on('error', (error) => logger.warn({ err: error }, 'the UDP socket of the DNS server reports an error'))
  udp.on('message', async (bytes, { address, port }) => {
    if (port === 0) return
    notifier.hear(bytes, { host: address, port })
    try {
      const answer = await responder.answerDatagram(bytes, address)
      // A datagram that cannot be sent is lost: the resolver asks again.
      if (answer) udp.send(answer, port, address, () => {})
    } catch (error) {
      // The socket may have been closed meanwhile.
      if (errorCode(error) !== 'ERR_SOCKET_DGRAM_NOT_RUNNING')
        lines.write('error', { err: error }, 'a DNS question could not be answered')
    }
  })
}
