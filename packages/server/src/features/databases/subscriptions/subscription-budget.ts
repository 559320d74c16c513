import type { TenantId } from '#infra/db/index.ts'
import { RtdbFailure } from '../engine/rtdb-failure.ts'

/** What subscriptions take. */
interface Amounts {
  readonly subscriptions: number
  /** Of what is asked for. */
  readonly characters: number
  /** Of filters, each value of a list counted: every write may have to look at all of them. */
  readonly conditions: number
  /** Values that aggregates keep. */
  readonly weight: number
}

const levels = ['process', 'tenant', 'guests', 'account', 'guest'] as const
type Level = (typeof levels)[number]
type Bounds = Readonly<Record<Level, Amounts>>

// docs/protocol/realtime.md, Subscriptions. No account or address has much of a tenant's, guests have half of it, and no tenant
// has much of the process's.
const usual: Bounds = {
  process: { subscriptions: 100_000, characters: 64 * 1024 ** 2, conditions: 500_000, weight: 2_000_000 },
  tenant: { subscriptions: 25_000, characters: 16 * 1024 ** 2, conditions: 100_000, weight: 500_000 },
  guests: { subscriptions: 12_500, characters: 8 * 1024 ** 2, conditions: 20_000, weight: 250_000 },
  account: { subscriptions: 5_000, characters: 4 * 1024 ** 2, conditions: 10_000, weight: 100_000 },
  guest: { subscriptions: 1_000, characters: 1024 ** 2, conditions: 5_000, weight: 20_000 },
}

const refusals: Readonly<Record<Level, string>> = {
  process: 'this server has too many subscriptions',
  tenant: 'this tenant has too many subscriptions',
  guests: 'the guests of this tenant have too many subscriptions',
  account: 'this account has too many subscriptions',
  guest: 'this address has too many subscriptions',
}

const charactersEach = 16 * 1024

/** Whose subscriptions they are. */
export interface Subscriber {
  readonly tenantId: TenantId
  /** Undefined for guests. */
  readonly idTag: string | undefined
  /** The address of a guest. */
  readonly address: string
}

/** What one subscription takes from the beginning. */
export type SubscriptionCost = Pick<Amounts, 'characters' | 'conditions'>

const amounts = ['subscriptions', 'characters', 'conditions', 'weight'] as const
type Used = { readonly level: Level } & { -readonly [Name in keyof Amounts]: Amounts[Name] }

/** How much the subscriptions of a process may take: in all, and of each tenant, account and address. */
export class SubscriptionBudget {
  readonly #bounds: Bounds
  // Bounded by the sockets.
  readonly #used = new Map<string, Used>()

  constructor(bounds: Partial<Record<Level, Partial<Amounts>>> = {}) {
    const boundsOf = (level: Level) => [level, { ...usual[level], ...bounds[level] }] as const
    this.#bounds = Object.fromEntries(levels.map(boundsOf)) as Bounds
  }

  of({ tenantId, idTag, address }: Subscriber): Allowance {
    const own: [Level, string][] =
      idTag === undefined
        ? [
            ['guest', address],
            ['guests', String(tenantId)],
          ]
        : [['account', idTag]]
    return new Allowance(this, [...own, ['tenant', String(tenantId)], ['process', '']])
  }

  /** Throws 429 where one of them has no room. */
  open(names: readonly LevelName[], { characters, conditions }: SubscriptionCost): void {
    if (characters > charactersEach)
      throw new RtdbFailure(413, `what a subscription asks for has at most ${charactersEach} characters`)
    const added = { subscriptions: 1, characters, conditions, weight: 0 }
    const full = names.map((name) => this.#usedBy(name)).find((used) => !this.#hasRoom(used, added))
    if (full) throw new RtdbFailure(429, refusals[full.level])
    for (const name of names) this.#add(name, added)
  }

  close(names: readonly LevelName[], { characters, conditions }: SubscriptionCost): void {
    const gone = { subscriptions: -1, characters: -characters, conditions: -conditions, weight: 0 }
    for (const name of names) this.#add(name, gone)
  }

  /** False when one of them has no room for so many values more; they are counted all the same. */
  takeWeight(names: readonly LevelName[], weight: number): boolean {
    const added = { subscriptions: 0, characters: 0, conditions: 0, weight }
    const hasRoom = names.every((name) => this.#hasRoom(this.#usedBy(name), added))
    for (const name of names) this.#add(name, added)
    return hasRoom
  }

  #hasRoom(used: Used, added: Amounts): boolean {
    const bounds = this.#bounds[used.level]
    return amounts.every((name) => added[name] <= 0 || used[name] + added[name] <= bounds[name])
  }

  #usedBy([level, name]: LevelName): Used {
    const none = { level, subscriptions: 0, characters: 0, conditions: 0, weight: 0 }
    return this.#used.get(`${level} ${name}`) ?? none
  }

  #add(name: LevelName, added: Amounts): void {
    const used = this.#usedBy(name)
    for (const amount of amounts) used[amount] += added[amount]
    const key = name.join(' ')
    if (amounts.every((amount) => used[amount] === 0)) this.#used.delete(key)
    else this.#used.set(key, used)
  }
}

type LevelName = readonly [Level, string]

/** What one client may take of a budget: what every level that it counts with has left. */
export class Allowance {
  readonly #budget: SubscriptionBudget
  readonly #names: readonly LevelName[]

  constructor(budget: SubscriptionBudget, names: readonly LevelName[]) {
    this.#budget = budget
    this.#names = names
  }

  /** Throws 429 when there is no room, 413 for more than any subscription may ask for. */
  open(cost: SubscriptionCost): void {
    this.#budget.open(this.#names, cost)
  }

  close(cost: SubscriptionCost): void {
    this.#budget.close(this.#names, cost)
  }

  takeWeight(values: number): boolean {
    return this.#budget.takeWeight(this.#names, values)
  }
}
