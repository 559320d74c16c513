import type { SocketClose } from '@kith/protocol'
import type { Clock } from '#lib/clock.ts'
import type { LiveSocket } from './live-socket.ts'

/** How many sockets may be open at once. */
export interface SocketLimits {
  readonly total: number
  readonly perAddress: number
  readonly perAccount: number
}

// docs/protocol/realtime.md, Common rules. A large household or office is behind one address; a person has several devices with
// several documents open on each.
export const defaultSocketLimits: SocketLimits = { total: 10_000, perAddress: 1000, perAccount: 200 }

interface Guest {
  readonly socket: LiveSocket
  readonly address: string
  account: string | undefined
  nextBeatMs: number
}

const beatEveryMs = 25_000
const tickMs = 1000
// docs/protocol/realtime.md, Common rules: within 5 s. A tick in between and the queries leave room.
const reviewEveryMs = 2000
// In real time: a stop must not wait for a clock that stands still.
const goodbyeMs = 1500

/** Every open socket of the process: counted, pinged, and its credential checked again from time to time. */
export class OpenSocketSet {
  readonly #clock: Clock
  readonly #limits: SocketLimits
  readonly #review: () => Promise<void>
  readonly #onTick: () => void
  readonly #guests = new Map<LiveSocket, Guest>()
  // Bounded by the sockets.
  readonly #perAddress = new Map<string, number>()
  readonly #perAccount = new Map<string, number>()
  #callOff: (() => void) | undefined
  #reviewedAtMs = 0
  #reviewing: Promise<void> | undefined
  #mustReviewAgain = false

  /** `review` ends the sockets whose clients may not be here any more. */
  constructor(options: {
    clock: Clock
    limits: SocketLimits
    review: () => Promise<void>
    tick: () => void
  }) {
    this.#clock = options.clock
    this.#limits = options.limits
    this.#review = options.review
    this.#onTick = options.tick
  }

  get sockets(): Iterable<LiveSocket> {
    return this.#guests.keys()
  }

  get size(): number {
    return this.#guests.size
  }

  hasRoomFor(address: string): boolean {
    return (this.#perAddress.get(address) ?? 0) < this.#limits.perAddress
  }

  /** Whether there are more sockets than allowed: several may have been admitted while there was room for one. */
  isCrowded(address: string): boolean {
    const { total, perAddress } = this.#limits
    return this.#guests.size > total || (this.#perAddress.get(address) ?? 0) > perAddress
  }

  add(socket: LiveSocket, address: string): void {
    const nowMs = this.#clock.now()
    this.#guests.set(socket, { socket, address, account: undefined, nextBeatMs: nowMs + beatEveryMs })
    count(this.#perAddress, address, 1)
    if (this.#callOff) return
    this.#reviewedAtMs = nowMs
    this.#wait()
  }

  /** False when the account has too many already. */
  claim(socket: LiveSocket, account: string): boolean {
    const guest = this.#guests.get(socket)
    if (!guest || (this.#perAccount.get(account) ?? 0) >= this.#limits.perAccount) return false
    guest.account = account
    count(this.#perAccount, account, 1)
    return true
  }

  remove(socket: LiveSocket): void {
    const guest = this.#guests.get(socket)
    if (!guest) return
    this.#guests.delete(socket)
    count(this.#perAddress, guest.address, -1)
    if (guest.account !== undefined) count(this.#perAccount, guest.account, -1)
    if (this.#guests.size > 0) return
    this.#callOff?.()
    this.#callOff = undefined
  }

  /** Reviews all sockets; a call during a review is followed by another review. */
  review(): Promise<void> {
    this.#mustReviewAgain = true
    this.#reviewing ??= this.#reviewAll()
    return this.#reviewing
  }

  /** Closes all, and waits for clients that answer the close. */
  async empty(why: SocketClose): Promise<void> {
    for (const socket of this.sockets) {
      if (socket.isOpen) socket.close(why)
      else socket.terminate()
    }
    await this.#untilEmpty(goodbyeMs)
    for (const socket of this.sockets) socket.terminate()
    await this.#untilEmpty(goodbyeMs)
    await this.#reviewing
  }

  async #untilEmpty(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (this.#guests.size > 0 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 10))
  }

  #wait(): void {
    this.#callOff = this.#clock.wakeAt(this.#clock.now() + tickMs, () => this.#tick())
  }

  #tick(): void {
    const nowMs = this.#clock.now()
    for (const guest of this.#guests.values()) {
      if (nowMs < guest.nextBeatMs) continue
      guest.nextBeatMs = nowMs + beatEveryMs
      guest.socket.beat()
    }
    this.#onTick()
    if (nowMs - this.#reviewedAtMs >= reviewEveryMs) void this.review()
    if (this.#guests.size > 0) this.#wait()
  }

  async #reviewAll(): Promise<void> {
    try {
      while (this.#mustReviewAgain) {
        this.#mustReviewAgain = false
        this.#reviewedAtMs = this.#clock.now()
        await this.#review()
      }
    } finally {
      this.#reviewing = undefined
    }
  }
}

function count(numbers: Map<string, number>, key: string, by: 1 | -1): void {
  const number = (numbers.get(key) ?? 0) + by
  if (number > 0) numbers.set(key, number)
  else numbers.delete(key)
}
