import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIPv4, isIPv6, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { errorCode } from '#lib/system-error.ts'
import type { SecondaryAddress } from './zones.ts'

export interface ListenAddress {
  /** An IP address or `localhost`. */
  readonly host: string
  /** 0 picks one that is free for UDP and TCP. */
  readonly port: number
}

/** The sockets of one address. */
export interface DnsSockets {
  /** What is bound: the address of `localhost`, and the port in the place of 0. */
  readonly address: ListenAddress
  readonly tcp: Server
  /** That of the address itself first. */
  readonly udp: readonly [UdpSocket, ...UdpSocket[]]
  /** Addresses of the machine that a wildcard has no sockets for. */
  readonly unbound: readonly { readonly host: string; readonly error: unknown }[]
}

export interface BindOptions {
  /** Is given the connections. Without it they are ended. */
  readonly accept?: ((socket: Socket) => void) | undefined
  readonly machineAddresses?: (() => readonly string[]) | undefined
}

const portTries = 10
// Questions that arrive while the process does something else wait there. The system gives as much of it as it allows.
const receiveBytes = 1024 ** 2

/** Sockets for UDP and TCP, which the caller closes. The port that the system gave for TCP may be taken for UDP: with port 0
 * another is tried. */
export async function bindDns(
  { host, port }: ListenAddress,
  { accept = (socket) => void socket.destroy(), machineAddresses = listMachineAddresses }: BindOptions = {},
): Promise<DnsSockets> {
  for (let tries = 1; ; tries += 1) {
    // A client may close its sending side before it has its answers.
    const tcp = createServer({ allowHalfOpen: true }, accept)
    tcp.listen(port, host)
    await once(tcp, 'listening')
    const bound = tcp.address() as AddressInfo
    const address = { host: bound.address, port: bound.port }
    try {
      if (!isWildcard(address.host)) return { address, tcp, udp: [await bindUdp(address)], unbound: [] }
      return { address, tcp, ...(await bindEach(address, machineAddresses())) }
    } catch (error) {
      tcp.close()
      if (port !== 0 || errorCode(error) !== 'EADDRINUSE' || tries === portTries) throw error
    }
  }
}

/** All of them, or none. */
export async function bindAll(
  addresses: readonly ListenAddress[],
  options: BindOptions,
): Promise<DnsSockets[]> {
  const bound: DnsSockets[] = []
  try {
    for (const address of addresses) bound.push(await bindDns(address, options))
    return bound
  } catch (error) {
    // Not awaited: connections end in their own time.
    for (const sockets of bound) void closeSockets(sockets)
    throw error
  }
}

/** Ends when the connections have ended, too. */
export async function closeSockets({ tcp, udp }: Pick<DnsSockets, 'tcp' | 'udp'>): Promise<void> {
  const ofTcp = new Promise<void>((resolve) => tcp.close(() => resolve()))
  await Promise.all([ofTcp, ...udp.map(closeUdp)])
}

function closeUdp(udp: UdpSocket): Promise<void> {
  return new Promise((resolve) => udp.close(resolve))
}

/** The system sends what goes out of a wildcard's socket from an address that it chooses, while resolvers take answers only from
 * the one that they asked, and Node does not tell which that was. So each address has a socket of its own, to which
 * the system gives what is sent there; that of the wildcard is for addresses that come later. */
async function bindEach(
  { host, port }: ListenAddress,
  machineAddresses: readonly string[],
): Promise<Pick<DnsSockets, 'udp' | 'unbound'>> {
  // Sockets that share a port share it with those of other programs as well: it has to be free of them at first.
  await closeUdp(await bindUdp({ host, port }))
  const udp: [UdpSocket, ...UdpSocket[]] = [await bindUdp({ host, port }, { reuseAddr: true })]
  const unbound: { host: string; error: unknown }[] = []
  for (const own of machineAddresses.filter((each) => host === '::' || isIPv4(each)))
    try {
      udp.push(await bindUdp({ host: own, port }, { reuseAddr: true }))
    } catch (error) {
      unbound.push({ host: own, error })
    }
  return { udp, unbound }
}

async function bindUdp(
  { host, port }: ListenAddress,
  options: { reuseAddr?: boolean } = {},
): Promise<UdpSocket> {
  const udp = createSocket({ ...options, type: isIPv6(host) ? 'udp6' : 'udp4' })
  try {
    udp.bind(port, host)
    await once(udp, 'listening')
    udp.setRecvBufferSize(receiveBytes)
    return udp
  } catch (error) {
    udp.close()
    throw error
  }
}

/** Without link-local addresses (fe80::/10), which each link has anew. */
function listMachineAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const hosts = addresses.map(({ address }) => address)
  return [...new Set(hosts)].filter((host) => !/^fe[89ab]/i.test(host))
}

/** Sends datagrams of the server's own accord from the first address that is listened on and can reach the other side:
 * by it the server is known. */
export function openSender(bound: readonly DnsSockets[]): (message: Buffer, to: SecondaryAddress) => void {
  return (message, { host, port }) => {
    const from = senderTo(host, bound)
    const to = from && isIPv6(from.address.host) && isIPv4(host) ? `::ffff:${host}` : host
    // One that cannot be sent is like one that is lost on its way.
    from?.udp[0].send(message, port, to, () => {})
  }
}

/** Wildcards last, as what they send may come from any address. */
function senderTo(to: string, bound: readonly DnsSockets[]): DnsSockets | undefined {
  const reaching = bound.filter(({ address }) => reaches(address.host, to))
  return (
    reaching.find(({ address }) => !isWildcard(address.host)) ??
    reaching.find(({ address }) => isIPv4(address.host) === isIPv4(to)) ??
    reaching[0]
  )
}

function reaches(from: string, to: string): boolean {
  if (from === '::') return true
  const own = from.replace(/^::ffff:(?=.*\.)/, '')
  return isIPv4(own) === isIPv4(to) && (!isLoopback(own) || isLoopback(to))
}

function isWildcard(host: string): boolean {
  return host === '::' || host === '0.0.0.0'
}

function isLoopback(host: string): boolean {
  return host === '::1' || host.startsWith('127.')
}
