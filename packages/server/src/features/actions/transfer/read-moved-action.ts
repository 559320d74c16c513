import { numberIn, optionalNumberIn, optionalTextIn, type TenantRow, textIn } from '#infra/db/index.ts'
import { invalid } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import type { MovedDeps } from './moved-row.ts'
import { readDraft, readRefused } from './read-moved-draft.ts'
import { readRemains } from './read-moved-remains.ts'
import { readRecord, readSigned } from './read-moved-signed.ts'

/** What only the server knows that had an action. */
export interface ActionBookkeeping {
  readonly reactions: number
  readonly comments: number
  readonly views: number
  readonly shares: number
  /** `iat` of the last counts that its issuer's server told. */
  readonly statAt: number | undefined
  readonly keptSince: number | undefined
  /** It has a unique key. One that took its place before it was sent has that instead. */
  readonly isKeyed: boolean
}

export interface MovedAction {
  readonly action: StoredAction
  readonly bookkeeping: ActionBookkeeping
}

/** Reads an action of an archive, which may have been written by anybody. What was signed is read from the token alone.
 * The tenant's own must carry its signature; those of others count as unverified. Undefined for others' without a
 * readable token. `E-VALIDATION` for what no server has stored. */
export async function readMovedAction(deps: MovedDeps, row: TenantRow): Promise<MovedAction | undefined> {
  const action = await readStored(deps, row)
  return (
    action && { action: { ...action, isFeedOnly: row.feed_only === 1 }, bookkeeping: readBookkeeping(row) }
  )
}

async function readStored(deps: MovedDeps, row: TenantRow): Promise<StoredAction | undefined> {
  const status = textIn(row, 'status')
  switch (status) {
    case 'A':
    case 'C':
    case 'P':
      return await readSigned(deps, row, status)
    case 'T':
      return await readRecord(deps, row)
    case 'D':
      return readRefused(deps, row) ?? (await readRemains(deps, row))
    case 'R':
    case 'S':
      return readDraft(deps, row, status)
    default:
      throw invalid('/status', 'is no status of an action')
  }
}

function readBookkeeping(row: TenantRow): ActionBookkeeping {
  return {
    reactions: countIn(row, 'reactions'),
    comments: countIn(row, 'comments'),
    views: countIn(row, 'views'),
    shares: countIn(row, 'shares'),
    statAt: optionalNumberIn(row, 'stat_at'),
    keptSince: optionalNumberIn(row, 'kept_since'),
    isKeyed: optionalTextIn(row, 'unique_key') !== undefined,
  }
}

// They are added to, and summed.
const highestCount = 1_000_000_000

function countIn(row: TenantRow, column: string): number {
  return Math.min(numberIn(row, column), highestCount)
}
