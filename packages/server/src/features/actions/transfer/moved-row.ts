import { type ActionId, parseActionId, type Visibility, visibilityCodes } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { jsonIn, optionalTextIn, type TenantRow } from '#infra/db/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { StoredAction, StoredStatus } from '../action.ts'
import type { ReadToken } from '../read-action-token.ts'

/** What reading a row of an archive takes. */
export interface MovedDeps {
  readonly tenant: Tenant
  /** Unix seconds. */
  readonly now: number
  /** Whether the tenant signed this token itself, by the keys of the archive. */
  isOwn(token: ReadToken): Promise<boolean>
}

/** What `parse` answers; undefined where it refuses with a `Failure`. */
export function parsedOrUndefined<Value>(parse: () => Value): Value | undefined {
  try {
    return parse()
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

/** Why it was refused, where it was. */
export function refusalOf(row: TenantRow): StoredAction['x'] {
  const x = jsonIn(row, 'x')
  const refused = typeof x === 'object' && x !== null && 'refused' in x ? x.refused : undefined
  return typeof refused === 'string' ? { refused } : undefined
}

export function parsedId(row: TenantRow, column: string): ActionId | undefined {
  return parseActionId(optionalTextIn(row, column) ?? '')
}

export function visibilityOf(row: TenantRow): Visibility {
  const code = optionalTextIn(row, 'visibility')
  if (code === undefined) return null
  const found = visibilityCodes.find((one) => one === code)
  if (!found) throw invalid('/visibility', 'is no visibility')
  return found
}

/** Members that are empty in a record, and in what remains of an action, unless it says otherwise. */
export const nothing = {
  subType: undefined,
  parentId: undefined,
  rootId: undefined,
  audienceTag: undefined,
  audience: [],
  content: undefined,
  attachments: [],
  subject: undefined,
  expiresAt: undefined,
  visibility: null,
  flags: undefined,
  x: undefined,
  authorTag: undefined,
  withinId: undefined,
  isMarked: false,
  publishAt: undefined,
  nonce: undefined,
} satisfies Partial<StoredAction> & { readonly status?: StoredStatus }
