import {
  type ActionId,
  type ActionTypeName,
  findActionType,
  type IdTag,
  parseActionId,
  parseIdTag,
  type Visibility,
  visibilityCodes,
} from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import {
  jsonIn,
  numberIn,
  optionalNumberIn,
  optionalTagIn,
  optionalTextIn,
  type TenantRow,
  textIn,
} from '#infra/db/index.ts'
import { clockSkewSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { StoredAction, StoredStatus } from '../action.ts'
import { ownActionId } from '../action-id.ts'
import { type ActionInput, parseAction } from '../compose/parse-action.ts'
import { extraMembers } from '../compose/sign-action.ts'
import { type ReadToken, readActionToken } from '../read-action-token.ts'
import { readAction } from '../receive/receive-action.ts'

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

interface ReadDeps {
  readonly tenant: Tenant
  /** Unix seconds. */
  readonly now: number
  /** Whether the tenant signed this token itself, by the keys of the archive. */
  isOwn(token: ReadToken): Promise<boolean>
}

/** Reads an action of an archive, which may have been written by anybody. What was signed is read from the token alone.
 * The tenant's own must carry its signature; those of others count as unverified. Undefined for others' without a
 * readable token. `E-VALIDATION` for what no server has stored. */
export async function readMovedAction(deps: ReadDeps, row: TenantRow): Promise<MovedAction | undefined> {
  const action = await readStored(deps, row)
  return (
    action && { action: { ...action, isFeedOnly: row.feed_only === 1 }, bookkeeping: readBookkeeping(row) }
  )
}

async function readStored(deps: ReadDeps, row: TenantRow): Promise<StoredAction | undefined> {
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

async function readSigned(
  deps: ReadDeps,
  row: TenantRow,
  status: 'A' | 'C' | 'P',
): Promise<StoredAction | undefined> {
  const token = await readTokenOf(deps, row)
  const signed = token && parsedOrUndefined(() => readAction({ ...token, token: token.text }))
  if (!signed) return undefined
  const isOwn = token.issuerTag === deps.tenant.idTag
  // Only what has attachments waits for them, and no request has.
  const isPending = status === 'P' && !isOwn && signed.attachments.length > 0
  const awaitsAnswer = status === 'C' && findActionType(signed.type)?.arrivesAs === 'C'
  const authorTag = authorOf(token)
  return {
    ...signed,
    x: extraOf(row, { signed, authorTag, isOwn }),
    authorTag: isOwn ? authorTag : undefined,
    status: isPending ? 'P' : awaitsAnswer ? 'C' : 'A',
    isMarked: row.marked === 1,
    publishedAt: optionalNumberIn(row, 'published_at') ?? token.payload.iat,
    isUnverified: !isOwn,
  }
}

function authorOf({ payload }: ReadToken): IdTag | undefined {
  const { author } = payload.x ?? {}
  return typeof author === 'string' ? parseIdTag(author) : undefined
}

/** The signed members of `x`, and when an own message was acknowledged, which only its issuer's server notes. */
function extraOf(
  row: TenantRow,
  { signed, authorTag, isOwn }: { signed: StoredAction; authorTag: IdTag | undefined; isOwn: boolean },
): StoredAction['x'] {
  const members = extraMembers(signed.x, authorTag)
  const x = isOwn ? jsonIn(row, 'x') : undefined
  const ackedAt = typeof x === 'object' && x !== null && 'ackedAt' in x ? x.ackedAt : undefined
  return typeof ackedAt === 'number' ? { ...members, ackedAt } : members
}

/** A token that is no action: an ending, an announcement, counts. */
async function readRecord(deps: ReadDeps, row: TenantRow): Promise<StoredAction | undefined> {
  const token = await readTokenOf(deps, row)
  if (!token) return undefined
  const { payload, actionId, issuerTag } = token
  return {
    ...nothing,
    actionId,
    type: payload.type as ActionTypeName,
    subType: payload.subType,
    audienceTag: optionalTagIn(row, 'audience_tag'),
    subject: payload.subject,
    issuerTag,
    visibility: visibilityOf(row),
    nonce: optionalTextIn(row, 'nonce') === undefined ? undefined : payload.nonce,
    status: 'T',
    ...timesOf(payload.iat),
    publishedAt: optionalNumberIn(row, 'published_at'),
    token: token.text,
    isUnverified: issuerTag !== deps.tenant.idTag,
  }
}

/** What remains of an action that was deleted or refused: nothing of its text. An own token is kept, because it may
 * still have to be sent. */
async function readRemains(deps: ReadDeps, row: TenantRow): Promise<StoredAction> {
  const actionId = parseActionId(textIn(row, 'action_id'))
  const issuerTag = parseIdTag(textIn(row, 'issuer_tag'))
  const type = findActionType(textIn(row, 'type'))
  if (!actionId || !issuerTag || !type) throw invalid('/action_id', 'is no action')
  const isOwn = issuerTag === deps.tenant.idTag
  const token = isOwn ? await readTokenOf(deps, row) : undefined
  return {
    ...nothing,
    actionId,
    type: type.type as ActionTypeName,
    subType: optionalTextIn(row, 'sub_type'),
    audienceTag: optionalTagIn(row, 'audience_tag'),
    subject: optionalTextIn(row, 'subject'),
    parentId: parsedId(row, 'parent_id'),
    rootId: parsedId(row, 'root_id'),
    withinId: parsedId(row, 'within_id'),
    issuerTag,
    authorTag: isOwn ? optionalTagIn(row, 'author_tag') : undefined,
    visibility: visibilityOf(row),
    x: refusalOf(row),
    status: 'D',
    createdAt: numberIn(row, 'created_at'),
    issuedAt: numberIn(row, 'issued_at'),
    publishedAt: optionalNumberIn(row, 'published_at'),
    nonce: token?.payload.nonce,
    token: token?.text,
    isUnverified: !isOwn,
  }
}

/** A draft is the tenant's own, and what it says is checked once more when it is published. What a member of a
 * community has scheduled is a draft again: here nobody has seen that member yet. */
function readDraft({ tenant }: ReadDeps, row: TenantRow, status: 'R' | 'S'): StoredAction {
  const body = parsedOrUndefined(() => parseAction(inputOf(row)))
  if (!body) throw invalid('/content', 'is of no draft')
  const nonce = textIn(row, 'nonce')
  const actionId = ownActionId(tenant.idTag, nonce)
  if (actionId !== row.action_id || row.issuer_tag !== tenant.idTag)
    throw invalid('/action_id', 'is no draft of the tenant')
  const authorTag = tenant.type === 'community' ? optionalTagIn(row, 'author_tag') : undefined
  const isScheduled = status === 'S' && (authorTag === undefined || authorTag === tenant.idTag)
  return {
    ...body,
    x: extraMembers(body.x, authorTag),
    actionId,
    issuerTag: tenant.idTag,
    authorTag,
    withinId: parsedId(row, 'within_id'),
    visibility: body.visibility ?? null,
    status: isScheduled ? 'S' : 'R',
    isMarked: false,
    createdAt: numberIn(row, 'created_at'),
    issuedAt: 0,
    publishedAt: optionalNumberIn(row, 'published_at'),
    publishAt: isScheduled ? numberIn(row, 'publish_at') : undefined,
    nonce,
    token: undefined,
  }
}

/** A scheduled action that could not be published is a draft again. */
function readRefused(deps: ReadDeps, row: TenantRow): StoredAction | undefined {
  const isRefused = row.issued_at === 0 && row.content !== null && refusalOf(row) !== undefined
  return isRefused ? parsedOrUndefined(() => readDraft(deps, row, 'R')) : undefined
}

/** The members that a request would have; `parseAction` checks them. */
function inputOf(row: TenantRow): ActionInput {
  const list = (column: string) => {
    const value = jsonIn(row, column)
    if (value === undefined) return undefined
    if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
      throw invalid(`/${column}`, 'is no list of texts')
    return value as string[]
  }
  const members = (column: string) => {
    const value = jsonIn(row, column)
    if (value === undefined) return undefined
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw invalid(`/${column}`, 'is no object')
    return value as Record<string, unknown>
  }
  return {
    type: textIn(row, 'type'),
    subType: optionalTextIn(row, 'sub_type'),
    parentId: optionalTextIn(row, 'parent_id'),
    rootId: optionalTextIn(row, 'root_id'),
    audienceTag: optionalTextIn(row, 'audience_tag'),
    audience: list('audience'),
    content: members('content'),
    attachments: list('attachments'),
    subject: optionalTextIn(row, 'subject'),
    expiresAt: optionalNumberIn(row, 'expires_at'),
    visibility: visibilityOf(row) ?? undefined,
    flags: optionalTextIn(row, 'flags'),
    x: members('x'),
  }
}

/** The token of a row; undefined where there is none, or none that says what the row says. The tenant's own must be
 * signed by it. */
async function readTokenOf(deps: ReadDeps, row: TenantRow): Promise<ReadToken | undefined> {
  const text = optionalTextIn(row, 'token')
  const token = text === undefined ? undefined : parsedOrUndefined(() => readActionToken(text))
  if (!token || token.actionId !== row.action_id || token.issuerTag !== row.issuer_tag) return undefined
  const isOwn = token.issuerTag === deps.tenant.idTag
  if (isOwn && !(await deps.isOwn(token)))
    throw invalid('/token', `of ${token.actionId} is not signed by a key of the archive`)
  // It would stay on top of every list.
  const isPast = token.payload.iat <= deps.now + clockSkewSecs
  if (isOwn && !isPast) throw invalid('/token', `of ${token.actionId} is of a time to come`)
  return isPast ? token : undefined
}

function parsedOrUndefined<Value>(parse: () => Value): Value | undefined {
  try {
    return parse()
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

/** Why it was refused, where it was. */
function refusalOf(row: TenantRow): StoredAction['x'] {
  const x = jsonIn(row, 'x')
  const refused = typeof x === 'object' && x !== null && 'refused' in x ? x.refused : undefined
  return typeof refused === 'string' ? { refused } : undefined
}

function parsedId(row: TenantRow, column: string): ActionId | undefined {
  return parseActionId(optionalTextIn(row, column) ?? '')
}

function visibilityOf(row: TenantRow): Visibility {
  const code = optionalTextIn(row, 'visibility')
  if (code === undefined) return null
  const found = visibilityCodes.find((one) => one === code)
  if (!found) throw invalid('/visibility', 'is no visibility')
  return found
}

function timesOf(issuedAt: number) {
  return { createdAt: issuedAt, issuedAt, publishAt: undefined }
}

const nothing = {
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
