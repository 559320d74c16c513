import type { Socket } from 'node:net'
import type { NodeServer } from './node-server.ts'
import { plainAddress, rateKeyOf } from './peer.ts'

export interface ConnectionBounds {
  /** Open connections of one address (IPv6: one /64), and requests under way of one that a trusted proxy names. */
  readonly perAddress: number
  readonly total: number
}

export const defaultConnectionBounds: ConnectionBounds = { perAddress: 200, total: 10_000 }

/** Bounds the open connections of a server. One too many of an address is closed when it is accepted. When there are too
 * many in all, the address with the most connections loses one to an address with fewer. Connections of trusted proxies do not count
 * for an address, and sockets do not count any more once they have been upgraded: those have bounds of their own. */
export class ConnectionLimits {
  readonly #bounds: ConnectionBounds
  readonly #isTrusted: (ip: string) => boolean
  // Bounded by `total`.
  readonly #open = new Map<string, Set<Socket>>()
  #total = 0

  constructor(bounds: ConnectionBounds, isTrusted: (ip: string) => boolean) {
    this.#bounds = bounds
    this.#isTrusted = isTrusted
  }

  watch(server: NodeServer): void {
    server.on('connection', (socket: Socket) => this.#accept(socket))
    server.on('upgrade', (_, socket: Socket) => this.#releaseUpgraded(socket))
  }

  #accept(socket: Socket): void {
    const ip = plainAddress(socket.remoteAddress ?? '')
    if (this.#isTrusted(ip)) return
    const key = rateKeyOf(ip)
    const own = this.#open.get(key) ?? new Set<Socket>()
    const isFull = this.#total >= this.#bounds.total
    if (own.size >= this.#bounds.perAddress || (isFull && !this.#makeRoom(own.size))) {
      socket.destroy()
      return
    }
    own.add(socket)
    this.#open.set(key, own)
    this.#total += 1
    socket.once('close', () => this.#release(socket, key))
  }

  /** Ends the oldest connection of the address that has most, if it has more than the newcomer would have. */
  #makeRoom(newcomers: number): boolean {
    let most = new Set<Socket>()
    for (const sockets of this.#open.values()) if (sockets.size > most.size) most = sockets
    const [oldest] = most
    if (!oldest || most.size <= newcomers + 1) return false
    oldest.destroy()
    this.#release(oldest, keyOf(oldest))
    return true
  }

  /** Over TLS it is another socket than the one that was accepted, with the same client. */
  #releaseUpgraded(socket: Socket): void {
    const key = keyOf(socket)
    for (const accepted of this.#open.get(key) ?? [])
      if (accepted === socket || isSameConnection(accepted, socket)) this.#release(accepted, key)
  }

  #release(socket: Socket, key: string): void {
    const own = this.#open.get(key)
    if (!own?.delete(socket)) return
    this.#total -= 1
    if (own.size === 0) this.#open.delete(key)
  }
}

function keyOf(socket: Socket): string {
  return rateKeyOf(plainAddress(socket.remoteAddress ?? ''))
}

/** A network that counts as one has the same port many times. */
function isSameConnection(one: Socket, other: Socket): boolean {
  return (
    one.remotePort === other.remotePort &&
    one.remoteAddress === other.remoteAddress &&
    one.localPort === other.localPort &&
    one.localAddress === other.localAddress
  )
}
