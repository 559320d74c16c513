import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIPv4, isIPv6, type Server } from 'node:net'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { errorCode } from '#lib/system-error.ts'
import { defaultNetworkRate, type NetworkRate, openNetworkPace } from './network-limits.ts'
import { Notifier } from './notifier.ts'
import { RareLines } from './rare-lines.ts'
import { Responder, type ResponderDeps } from './responder.ts'
import { acceptConnections } from './tcp-connection.ts'
import type { Zones } from './zones.ts'

export interface DnsServerOptions {
  /** Port 0 picks one that is free for UDP and TCP. */
  readonly listen: { readonly host: string; readonly port: number }
  readonly zones: Zones
  readonly clock: Clock
  readonly logger: Logger
  readonly rate?: NetworkRate
  readonly observe?: ResponderDeps['observe']
  readonly observeLimited?: ResponderDeps['observeLimited']
}

/** An authoritative name server for its own zones, without recursion. */
export interface DnsServer {
  readonly host: string
  readonly port: number
  close(): Promise<void>
}

const portTries = 10

/** Listens on UDP and TCP. */
export async function openDnsServer(options: DnsServerOptions): Promise<DnsServer> {
  const { listen, zones, clock, logger, rate = defaultNetworkRate } = options
  const { observe = () => {}, observeLimited = () => {} } = options
  const lines = new RareLines({ clock, logger })
  const responder = new Responder({ zones, clock, lines, rate, observe, observeLimited })
  const { tcp, udp } = await bindDns(listen)
  const waitMsOf = openNetworkPace(clock, rate)
  const sockets = acceptConnections(tcp, { responder, clock, lines, waitMsOf })
  const notifier = new Notifier({
    zones,
    clock,
    logger,
    send(message, { host, port }) {
      const to = isIPv6(listen.host) && isIPv4(host) ? `::ffff:${host}` : host
      // One that cannot be sent is like one that is lost on its way.
      udp.send(message, port, to, () => {})
    },
  })
  answerDatagrams(udp, { responder, notifier, logger, lines })
  return {
    host: listen.host,
    port: udp.address().port,
    async close() {
      await notifier.close()
      const closed = once(tcp, 'close')
      tcp.close()
      for (const socket of sockets) socket.destroy()
      await Promise.all([closed, new Promise<void>((resolve) => udp.close(resolve))])
    },
  }
}

/** Sockets for both, which the caller closes. The port that the system gave for TCP may be taken for UDP: with port 0 another is tried. */
export async function bindDns({
  host,
  port,
}: DnsServerOptions['listen']): Promise<{ tcp: Server; udp: UdpSocket }> {
  for (let tries = 1; ; tries += 1) {
    // A client may close its sending side before it has its answers.
    const tcp = createServer({ allowHalfOpen: true })
    tcp.listen(port, host)
    await once(tcp, 'listening')
    const udp = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
    try {
      udp.bind((tcp.address() as AddressInfo).port, host)
      await once(udp, 'listening')
      return { tcp, udp }
    } catch (error) {
      tcp.close()
      udp.close()
      if (port !== 0 || errorCode(error) !== 'EADDRINUSE' || tries === portTries) throw error
    }
  }
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
