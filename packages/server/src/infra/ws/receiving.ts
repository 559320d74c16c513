/** What `Receiving` needs of a socket. */
export interface Receiver {
  /** Reads no further until `readOn`. */
  stopReading(): void
  readOn(): void
  /** Ends the socket (1013): a long message is not progressing. */
  giveUp(): void
}

// docs/protocol/realtime.md, Common rules: 256 MiB in all. Above this bound the oldest message is still read to its end, and
// the longest has 64 MiB.
const maxReceivedBytes = (256 - 64) * 1024 ** 2
// Sockets that hold no more than this are always read: ten thousand of them are 40 MiB.
const smallBytes = 4096
// The largest chunk of one read from the socket.
const readBytes = 64 * 1024
// A message that others wait for has to progress by 64 KiB in 5 s.
const patienceTicks = 5
// The overhead of a chunk in memory.
const pieceBytes = 256

/** Received bytes that no handler has processed yet, over all sockets of the process. Above the bound only the oldest of the
 * larger messages is read further; the other sockets wait. */
export class Receiving {
  readonly #maxBytes: number
  #bytes = 0
  // Both are bounded by the sockets; the oldest comes first.
  readonly #large = new Set<Reception>()
  readonly #stopped = new Set<Reception>()
  #watched: { readonly reception: Reception; total: number; ticks: number } | undefined

  constructor(maxBytes = maxReceivedBytes) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  open(receiver: Receiver): Reception {
    return new Reception(receiver, (reception, bytes) => this.#change(reception, bytes))
  }

  /** Ends the oldest message when others wait and it hardly progresses; called every second. */
  tick(): void {
    const [oldest] = this.#large
    if (this.#stopped.size === 0 || !oldest?.isMidMessage) {
      this.#watched = undefined
      return
    }
    if (this.#watched?.reception !== oldest)
      this.#watched = { reception: oldest, total: oldest.total, ticks: 0 }
    this.#watched.ticks += 1
    if (this.#watched.ticks <= patienceTicks) return
    if (oldest.total - this.#watched.total < readBytes) {
      this.#large.delete(oldest)
      oldest.receiver.giveUp()
      this.#readOn()
    }
    this.#watched = undefined
  }

  #change(reception: Reception, by: number): void {
    this.#bytes += by
    if (reception.bytes <= smallBytes) this.#large.delete(reception)
    else if (by > 0) this.#large.add(reception)
    if (by <= 0) {
      if (reception.hasEnded) this.#stopped.delete(reception)
      this.#readOn()
      return
    }
    const [oldest] = this.#large
    const mustWait = this.#bytes > this.#maxBytes && this.#large.has(reception) && reception !== oldest
    if (!mustWait || this.#stopped.has(reception)) return
    this.#stopped.add(reception)
    reception.receiver.stopReading()
  }

  #readOn(): void {
    const [oldest] = this.#large
    let room = this.#maxBytes - this.#bytes
    for (const reception of this.#stopped) {
      if (room < readBytes && (oldest === undefined || !this.#stopped.has(oldest))) return
      if (room < readBytes && reception !== oldest) continue
      room -= readBytes
      this.#stopped.delete(reception)
      reception.receiver.readOn()
    }
  }
}

/** The received bytes of one socket. */
export class Reception {
  readonly receiver: Receiver
  readonly #changed: (reception: Reception, by: number) => void
  #bytes = 0
  #pieces = 0
  #total = 0
  #isMidMessage = false
  #hasEnded = false

  constructor(receiver: Receiver, changed: (reception: Reception, by: number) => void) {
    this.receiver = receiver
    this.#changed = changed
  }

  /** Bytes in memory. */
  get bytes(): number {
    return this.#bytes + this.#pieces * pieceBytes
  }

  /** Bytes received since the opening. */
  get total(): number {
    return this.#total
  }

  get isMidMessage(): boolean {
    return this.#isMidMessage
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Counts received bytes of messages; `isMidMessage`: the last message is not complete. */
  came(bytes: number, isMidMessage: boolean): void {
    if (this.#hasEnded) return
    const before = this.bytes
    this.#bytes += bytes
    this.#total += bytes
    this.#isMidMessage = isMidMessage
    this.#pieces = isMidMessage ? this.#pieces + 1 : 0
    this.#changed(this, this.bytes - before)
  }

  /** A message of so many bytes was processed. */
  handled(bytes: number): void {
    if (this.#hasEnded) return
    this.#bytes -= bytes
    this.#changed(this, -bytes)
  }

  end(): void {
    if (this.#hasEnded) return
    const before = this.bytes
    this.#hasEnded = true
    this.#bytes = 0
    this.#pieces = 0
    this.#changed(this, -before)
  }
}
