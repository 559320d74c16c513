import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Caller } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { ActionRequest } from './get-action.ts'
import { countView } from './reader-store.ts'

const dayMs = 86_400_000
// This many readers are known as counted without a query; about 150 bytes each.
const maxRemembered = 5000

/** Counts the readers of actions, each once a day, never the issuer (docs/protocol/action-life.md, Counts). */
export class ViewCounter {
  readonly #db: Database
  readonly #clock: Clock
  readonly #counted = new LRUCache<string, number>({ max: maxRemembered })

  constructor({ db, clock }: { readonly db: Database; readonly clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  /** True when this reader is new today. An action is shown even if its view cannot be counted. */
  async count(
    { tenant, caller, actionId, address }: ActionRequest & { readonly address: string },
    { issuerTag, status }: { readonly issuerTag: string; readonly status: string },
  ): Promise<boolean> {
    if (status !== 'A' || isIssuer(caller, issuerTag, tenant.idTag)) return false
    const day = Math.floor(this.#clock.now() / dayMs)
    const reader = caller.kind === 'identity' ? caller.idTag : anonymous(address, day)
    const key = `${tenant.tenantId} ${actionId} ${reader}`
    if (this.#counted.get(key) === day) return false
    this.#counted.set(key, day)
    try {
      return await this.#db.transact(tenant.tenantId, (tx) => countView(tx, { actionId, reader, day }))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      this.#counted.delete(key)
      return false
    }
  }
}

function isIssuer(caller: Caller, issuerTag: string, tenantTag: string): boolean {
  if (caller.kind !== 'identity') return false
  return caller.idTag === issuerTag || (caller.isOwner && issuerTag === tenantTag)
}

/** Tells the guests of one day apart without showing who they are. */
function anonymous(address: string, day: number): string {
  return createHash('sha256').update(`${address} ${day}`).digest('base64url').slice(0, 16)
}
