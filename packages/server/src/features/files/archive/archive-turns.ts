import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'

/** How many archives may be written at a time. */
interface TurnLimits {
  readonly total: number
  readonly perAccount: number
  readonly perAddress: number
  /** Of guests and holders of references, of whom there may be any number. */
  readonly unnamed: number
  /** Of a tenant's files, by others than its owner. */
  readonly othersPerTenant: number
  /** So many of `total`, and of `unnamed`, are for tenants that have none. */
  readonly keptFree: number
}

interface Downloader {
  readonly tenantId: number
  /** `owner`: whoever acts for the tenant. `unnamed`: a guest or the holder of a reference. */
  readonly standing: 'owner' | 'identity' | 'unnamed'
  /** Undefined for guests. */
  readonly account: string | undefined
  readonly address: string
}

interface Turn extends Pick<Downloader, 'tenantId' | 'standing'> {
  readonly startedMs: number
  end(): void
}

const defaultLimits: TurnLimits = {
  total: 16,
  perAccount: 2,
  perAddress: 4,
  unnamed: 8,
  othersPerTenant: 4,
  keptFree: 4,
}
const retryAfterSecs = 30
/** So long nobody else's wish ends an archive. */
const safeMs = 10 * 60_000

/** Bounds the archives that are under way: in all, of one account, address and tenant, and of guests. Nobody waits: a browser asks again.
 * The last turns are for tenants that have none, and where there are none left such a tenant gets the oldest one after ten
 * minutes. */
export class ArchiveTurns {
  readonly #clock: Clock
  readonly #limits: TurnLimits
  // By account, address and tenant; three times `total` at most.
  readonly #counts = new Map<string, number>()
  // The oldest first; `total` at most.
  readonly #turns = new Set<Turn>()

  constructor(clock: Clock, limits: TurnLimits = defaultLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Answers the function that ends the turn; `cutOff` is called when it is ended for another tenant. Throws `E-RATELIMIT`. */
  enter(downloader: Downloader, cutOff: () => void = () => undefined): () => void {
    const { tenantId, standing } = downloader
    const keys = this.#keysOf(downloader)
    if (keys.some(([key, limit]) => this.#count(key) >= limit)) throw tooMany(retryAfterSecs)
    this.#makeRoom(downloader)
    for (const [key] of keys) this.#counts.set(key, this.#count(key) + 1)
    const leave = () => {
      if (!this.#turns.delete(turn)) return
      for (const [key] of keys) this.#decrease(key)
    }
    const end = () => {
      leave()
      cutOff()
    }
    const turn: Turn = { tenantId, standing, startedMs: this.#clock.now(), end }
    this.#turns.add(turn)
    return leave
  }

  /** Among guests first: who ends there leaves room among all. */
  #makeRoom(downloader: Downloader): void {
    const { total, unnamed } = this.#limits
    if (downloader.standing === 'unnamed')
      this.#makeRoomIn(downloader, (turn) => turn.standing === 'unnamed', unnamed)
    this.#makeRoomIn(downloader, () => true, total)
  }

  #makeRoomIn({ tenantId, standing }: Downloader, isCounted: (turn: Turn) => boolean, limit: number): void {
    const turns = [...this.#turns].filter(isCounted)
    const free = limit - turns.length
    // What others download keeps no owner from the own files.
    const ofTenant = turns.filter((turn) => turn.tenantId === tenantId)
    const isFirst = ofTenant.every((turn) => standing === 'owner' && turn.standing !== 'owner')
    if (free > (isFirst ? 0 : this.#limits.keptFree)) return
    if (!isFirst) throw tooMany(retryAfterSecs)
    const [longest] = turns
    const leftMs = longest ? longest.startedMs + safeMs - this.#clock.now() : safeMs
    if (!longest || leftMs > 0) throw tooMany(Math.min(retryAfterSecs, Math.ceil(leftMs / 1000)))
    longest.end()
  }

  #keysOf({ tenantId, standing, account, address }: Downloader): (readonly [key: string, limit: number])[] {
    const { perAccount, perAddress, othersPerTenant } = this.#limits
    const keys: [string, number][] = [[`address ${address}`, perAddress]]
    if (account !== undefined) keys.push([`account ${account}`, perAccount])
    if (standing !== 'owner') keys.push([`tenant ${tenantId}`, othersPerTenant])
    return keys
  }

  #count(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  #decrease(key: string): void {
    const left = this.#count(key) - 1
    if (left > 0) this.#counts.set(key, left)
    else this.#counts.delete(key)
  }
}

function tooMany(afterSecs: number): Failure {
  return new Failure('E-RATELIMIT', {
    message: 'Too many folders are downloaded at a time.',
    retryAfterSecs: afterSecs,
  })
}
