import { randomInt } from 'node:crypto'
import type { Logger } from '#infra/telemetry/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import { recordTypes } from './message/records.ts'
import { signRequest, type TransferKey } from './message/tsig.ts'
import { WireWriter } from './message/wire-writer.ts'
import { isWithin } from './network-limits.ts'
import type { SecondaryAddress, Zones } from './zones.ts'

export interface NotifierDeps {
  readonly zones: Pick<Zones, 'findTransferPolicy' | 'watchChanges'>
  readonly clock: Clock
  readonly logger: Logger
  /** Sends a datagram from the address of the server, by which secondaries know it. */
  send(message: Buffer, to: SecondaryAddress): void
}

const lookEveryMs = 2_000
// A secondary fetches the whole zone each time.
const restMs = 10_000
const waitsMs = [1_000, 2_000, 4_000, 8_000]
const opcodeNotify = 4
const authoritative = 0x0400
const classInternet = 1

/** Tells secondaries which zones have changed (RFC 1996), one zone after the other. A secondary that cannot be reached
 * learns of changes when it looks by itself. */
export class Notifier {
  readonly #deps: NotifierDeps
  readonly #looking: PeriodicWork
  #changes: (() => Promise<readonly string[]>) | undefined
  // Both are bounded by the number of zones.
  readonly #waiting = new Set<string>()
  readonly #toldAtMs = new Map<string, number>()
  #secondaries: readonly Secondary[] = []
  #isFailing = false

  constructor(deps: NotifierDeps) {
    this.#deps = deps
    const { clock, logger } = deps
    this.#looking = new PeriodicWork({
      clock,
      everyMs: lookEveryMs,
      work: () => this.#look(),
      onError: (error) => {
        if (!this.#isFailing) logger.warn({ err: error }, 'changed zones could not be listed')
        this.#isFailing = true
      },
    })
    this.#looking.start()
  }

  /** What came from an address may be the answer that is waited for. Signatures of answers are not checked: one that is
   * forged only ends the repetitions. */
  hear(bytes: Buffer, from: SecondaryAddress): void {
    if (bytes.length < 12) return
    const flags = bytes.readUInt16BE(2)
    if ((flags & 0xf800) !== (0x8000 | (opcodeNotify << 11))) return
    const answer = { id: bytes.readUInt16BE(0), rcode: flags & 15 }
    for (const secondary of this.#secondaries) secondary.hear(answer, from)
  }

  async close(): Promise<void> {
    this.#looking.stop()
    await this.#looking.settled()
    for (const secondary of this.#secondaries) secondary.close()
  }

  async #look(): Promise<void> {
    const { zones, clock } = this.#deps
    const { notified, key } = await zones.findTransferPolicy()
    this.#keepSecondaries(notified)
    if (notified.length === 0) {
      this.#changes = undefined
      this.#waiting.clear()
      return
    }
    this.#changes ??= zones.watchChanges()
    for (const zone of await this.#changes()) this.#waiting.add(zone)
    this.#isFailing = false
    const nowMs = clock.now()
    for (const [zone, atMs] of this.#toldAtMs) if (nowMs >= atMs + restMs) this.#toldAtMs.delete(zone)
    for (const zone of this.#waiting) {
      if (this.#toldAtMs.has(zone)) continue
      this.#waiting.delete(zone)
      this.#toldAtMs.set(zone, nowMs)
      for (const secondary of this.#secondaries) secondary.tell(zone, key)
    }
  }

  #keepSecondaries(wanted: readonly SecondaryAddress[]): void {
    const known = new Map(this.#secondaries.map((secondary) => [secondary.name, secondary]))
    this.#secondaries = wanted.map((address) => {
      const name = `${address.host} ${address.port}`
      const secondary = known.get(name) ?? new Secondary(this.#deps, name, address)
      known.delete(name)
      return secondary
    })
    for (const secondary of known.values()) secondary.close()
  }
}

interface NotifyAnswer {
  readonly id: number
  readonly rcode: number
}

/** One secondary, and the zones that it is to be told of. */
class Secondary {
  readonly name: string
  readonly #deps: Pick<NotifierDeps, 'clock' | 'logger' | 'send'>
  readonly #address: SecondaryAddress
  // Bounded by the number of zones.
  readonly #zones = new Map<string, TransferKey | undefined>()
  #expected: { readonly id: number; readonly settle: (rcode: number | undefined) => void } | undefined
  #isTelling = false
  #isSilent = false
  #isClosed = false

  constructor(
    deps: Pick<NotifierDeps, 'clock' | 'logger' | 'send'>,
    name: string,
    address: SecondaryAddress,
  ) {
    this.#deps = deps
    this.name = name
    this.#address = address
  }

  tell(zone: string, key: TransferKey | undefined): void {
    this.#zones.set(zone, key)
    if (!this.#isTelling) void this.#tellAll()
  }

  hear({ id, rcode }: NotifyAnswer, { host, port }: SecondaryAddress): void {
    if (this.#expected?.id !== id || port !== this.#address.port) return
    if (isWithin(host, [this.#address.host])) this.#expected.settle(rcode)
  }

  close(): void {
    this.#isClosed = true
    this.#zones.clear()
    this.#expected?.settle(undefined)
  }

  async #tellAll(): Promise<void> {
    this.#isTelling = true
    for (const [zone, key] of this.#zones) {
      this.#zones.delete(zone)
      const rcode = await this.#tellOf(zone, key)
      if (this.#isClosed) return
      this.#note(zone, rcode)
      // What else it was to be told it finds by itself, as this.
      if (rcode === undefined) this.#zones.clear()
    }
    this.#isTelling = false
  }

  /** The code of its answer; undefined without one. */
  async #tellOf(zone: string, key: TransferKey | undefined): Promise<number | undefined> {
    const { clock, send } = this.#deps
    const id = randomInt(0x10000)
    const message = writeNotify(id, zone)
    for (const waitMs of waitsMs) {
      const answered = Promise.withResolvers<number | undefined>()
      const cancel = clock.wakeAt(clock.now() + waitMs, () => answered.resolve(undefined))
      this.#expected = { id, settle: answered.resolve }
      send(key ? signRequest(key, message, nowSecs(clock)) : message, this.#address)
      const rcode = await answered.promise
      cancel()
      if (rcode !== undefined || this.#isClosed) return rcode
    }
    return undefined
  }

  #note(zone: string, rcode: number | undefined): void {
    const { logger } = this.#deps
    const about = { secondary: this.name, zone }
    if (rcode === undefined && !this.#isSilent) logger.warn(about, 'a secondary does not answer')
    if (rcode !== undefined && this.#isSilent) logger.info(about, 'a secondary answers again')
    if (rcode !== undefined && rcode !== 0)
      logger.warn({ ...about, rcode }, 'a secondary does not want to be told of a zone')
    this.#isSilent = rcode === undefined
  }
}

function writeNotify(id: number, zone: string): Buffer {
  const writer = new WireWriter()
  writer.number(id, 2)
  writer.number((opcodeNotify << 11) | authoritative, 2)
  writer.number(1, 2)
  writer.number(0, 6)
  writer.name(zone)
  writer.number(recordTypes.SOA, 2)
  writer.number(classInternet, 2)
  return writer.finish({ answers: 0, authority: 0, additional: 0 })
}
