import { type ActionTypeName, findActionType, parseActionId, parseIdTag } from '@kith/protocol'
import {
  numberIn,
  optionalNumberIn,
  optionalTagIn,
  optionalTextIn,
  type TenantRow,
  textIn,
} from '#infra/db/index.ts'
import { invalid } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import { type MovedDeps, nothing, parsedId, refusalOf, visibilityOf } from './moved-row.ts'
import { readTokenOf } from './read-moved-signed.ts'

/** What remains of an action that was deleted or refused: nothing of its text. An own token is kept, because it may
 * still have to be sent. */
export async function readRemains(deps: MovedDeps, row: TenantRow): Promise<StoredAction> {
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
