import { RtdbFailure } from '../engine/rtdb-failure.ts'

interface Bounds {
  readonly subscriptions: number
  /** Characters of what is asked for, in all and by one. */
  readonly characters: number
  readonly charactersEach: number
  /** Values that aggregates keep. */
  readonly weight: number
}

const usual: Bounds = {
  subscriptions: 100_000,
  characters: 64 * 1024 ** 2,
  charactersEach: 16 * 1024,
  weight: 2_000_000,
}

/** How much the subscriptions of a process may take in all. */
export class SubscriptionBudget {
  readonly #bounds: Bounds
  #subscriptions = 0
  #characters = 0
  #weight = 0

  constructor(bounds: Partial<Bounds> = {}) {
    this.#bounds = { ...usual, ...bounds }
  }

  open(characters: number): void {
    const { subscriptions, charactersEach } = this.#bounds
    if (characters > charactersEach)
      throw new RtdbFailure(413, `what a subscription asks for has at most ${charactersEach} characters`)
    if (this.#subscriptions >= subscriptions || this.#characters + characters > this.#bounds.characters)
      throw new RtdbFailure(429, 'this server has too many subscriptions')
    this.#subscriptions += 1
    this.#characters += characters
  }

  close(characters: number): void {
    this.#subscriptions -= 1
    this.#characters -= characters
  }

  /** False when there is no room for so many values more. They are counted all the same: what changes later has to be kept. */
  takeWeight(values: number): boolean {
    this.#weight += values
    return values <= 0 || this.#weight <= this.#bounds.weight
  }
}
