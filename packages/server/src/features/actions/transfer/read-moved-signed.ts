import { type ActionTypeName, findActionType, type IdTag, parseIdTag } from '@kith/protocol'
import { jsonIn, optionalNumberIn, optionalTagIn, optionalTextIn, type TenantRow } from '#infra/db/index.ts'
import { clockSkewSecs } from '#lib/clock.ts'
import { invalid } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import { extraMembers } from '../compose/sign-action.ts'
import { type ReadToken, readActionToken } from '../read-action-token.ts'
import { readAction } from '../receive/receive-action.ts'
import { type MovedDeps, nothing, parsedOrUndefined, visibilityOf } from './moved-row.ts'

/** A published action. What was signed is read from the token alone. */
export async function readSigned(
  deps: MovedDeps,
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
export async function readRecord(deps: MovedDeps, row: TenantRow): Promise<StoredAction | undefined> {
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

function timesOf(issuedAt: number) {
  return { createdAt: issuedAt, issuedAt, publishAt: undefined }
}

/** The token of a row; undefined where there is none, or none that says what the row says. The tenant's own must be
 * signed by it. */
export async function readTokenOf(deps: MovedDeps, row: TenantRow): Promise<ReadToken | undefined> {
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
