import {
  jsonIn,
  numberIn,
  optionalNumberIn,
  optionalTagIn,
  optionalTextIn,
  type TenantRow,
  textIn,
} from '#infra/db/index.ts'
import { invalid } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import { ownActionId } from '../action-id.ts'
import { type ActionInput, parseAction } from '../compose/parse-action.ts'
import { extraMembers } from '../compose/sign-action.ts'
import { type MovedDeps, parsedId, parsedOrUndefined, refusalOf, visibilityOf } from './moved-row.ts'

/** A draft is the tenant's own, and what it says is checked once more when it is published. What a member of a
 * community has scheduled is a draft again: here nobody has seen that member yet. */
export function readDraft({ tenant }: MovedDeps, row: TenantRow, status: 'R' | 'S'): StoredAction {
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
export function readRefused(deps: MovedDeps, row: TenantRow): StoredAction | undefined {
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
