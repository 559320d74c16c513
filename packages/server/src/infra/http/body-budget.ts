import { Failure } from '#lib/failure.ts'

export interface BodyBounds {
  readonly perAddress: number
  readonly total: number
}

const mebibyte = 1024 * 1024

/** Bytes of bodies that are read into memory at the same time; uploads are not, they go to the disk as they come. */
export const defaultBodyBounds: BodyBounds = { perAddress: 16 * mebibyte, total: 64 * mebibyte }

// The last quarter is for addresses that hold little, so that four addresses with large bodies do not block the others.
const littleBytes = 256 * 1024
const sharedPart = 0.75
const retryAfterSecs = 5

/** What one body holds of the budget. */
export interface BodyShare {
  /** Counts bytes that have come in; `E-UNAVAILABLE` when there is no room for them. */
  take(bytes: number): void
  /** The body is no longer being read. */
  release(): void
}

/** Bounds the bytes of half-read bodies, by address and in all. */
export class BodyBudget {
  readonly #bounds: BodyBounds
  // Bounded by the connections.
  readonly #held = new Map<string, number>()
  #total = 0

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds
  }

  open(address: string): BodyShare {
    let own = 0
    return {
      take: (bytes) => {
        this.#assertBudget(address, bytes)
        own += bytes
        this.#change(address, bytes)
      },
      release: () => {
        this.#change(address, -own)
        own = 0
      },
    }
  }

  #assertBudget(address: string, bytes: number): void {
    const { perAddress, total } = this.#bounds
    const held = (this.#held.get(address) ?? 0) + bytes
    const all = this.#total + bytes
    const isLittle = held <= littleBytes
    if (held > perAddress || all > (isLittle ? total : total * sharedPart))
      throw new Failure('E-UNAVAILABLE', { retryAfterSecs })
  }

  #change(address: string, bytes: number): void {
    if (bytes === 0) return
    this.#total += bytes
    const held = (this.#held.get(address) ?? 0) + bytes
    if (held > 0) this.#held.set(address, held)
    else this.#held.delete(address)
  }
}
