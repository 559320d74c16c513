import type { ActionId, ActionTypeName, FileId, IdTag, Visibility } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'
import type { StoredAction, StoredStatus } from './action.ts'
import type { ActionRow, WrittenRow } from './action-tables.ts'
import { targetIdOf } from './endorsement/target.ts'
import { uniqueKeyOf } from './unique-key.ts'

/** The columns that an action is read from. */
export const rowColumns = [
  'tenant_id',
  'action_id',
  'type',
  'sub_type',
  'issuer_tag',
  'author_tag',
  'audience_tag',
  'audience',
  'parent_id',
  'root_id',
  'within_id',
  'subject',
  'visibility',
  'status',
  'flags',
  'created_at',
  'issued_at',
  'published_at',
  'publish_at',
  'expires_at',
  'unique_key',
  'marked',
  'content',
  'attachments',
  'x',
  'nonce',
  'token',
  'unverified',
  'target_id',
  'target_hash',
  'mismatched',
] as const satisfies readonly (keyof ActionRow)[]

/** The columns that are written. `feed_only` is left out of reads: only the conditions of lists use it, and migrations
 * older than the column read actions too. */
export const writtenColumns = [...rowColumns, 'feed_only'] as const

export function toRow(tenantId: TenantId, action: StoredAction): WrittenRow {
  return {
    tenant_id: tenantId,
    action_id: action.actionId,
    type: action.type,
    sub_type: action.subType ?? null,
    issuer_tag: action.issuerTag,
    author_tag: action.authorTag ?? null,
    audience_tag: action.audienceTag ?? null,
    audience: action.audience.length > 0 ? JSON.stringify(action.audience) : null,
    parent_id: action.parentId ?? null,
    root_id: action.rootId ?? null,
    within_id: action.withinId ?? null,
    subject: action.subject ?? null,
    visibility: action.visibility,
    status: action.status,
    flags: action.flags ?? null,
    created_at: action.createdAt,
    issued_at: action.issuedAt,
    published_at: action.publishedAt ?? null,
    publish_at: action.publishAt ?? null,
    expires_at: action.expiresAt ?? null,
    unique_key: uniqueKeyOf(action) ?? null,
    marked: Number(action.isMarked),
    feed_only: Number(action.isFeedOnly === true),
    content: action.content === undefined ? null : JSON.stringify(action.content),
    attachments: action.attachments.length > 0 ? JSON.stringify(action.attachments) : null,
    x: action.x === undefined ? null : JSON.stringify(action.x),
    nonce: action.nonce ?? null,
    token: action.token ?? null,
    unverified: Number(action.isUnverified === true),
    target_id: (action.targetHash && targetIdOf(action)) ?? null,
    target_hash: action.targetHash ?? null,
    mismatched: Number(action.isMismatched === true),
  }
}

export function fromRow(row: ActionRow): StoredAction {
  const text = <Text extends string>(value: string | null) => (value ?? undefined) as Text | undefined
  return {
    actionId: row.action_id as ActionId,
    type: row.type as ActionTypeName,
    subType: text(row.sub_type),
    parentId: text<ActionId>(row.parent_id),
    rootId: text<ActionId>(row.root_id),
    withinId: text<ActionId>(row.within_id),
    issuerTag: row.issuer_tag as IdTag,
    authorTag: text<IdTag>(row.author_tag),
    audienceTag: text<IdTag>(row.audience_tag),
    audience: parsed<IdTag[]>(row.audience) ?? [],
    content: parsed<Record<string, unknown>>(row.content),
    attachments: parsed<FileId[]>(row.attachments) ?? [],
    subject: text(row.subject),
    expiresAt: row.expires_at ?? undefined,
    visibility: row.visibility as Visibility,
    flags: text(row.flags),
    x: parsed<Record<string, unknown>>(row.x),
    status: row.status as StoredStatus,
    isMarked: row.marked === 1,
    createdAt: row.created_at,
    issuedAt: row.issued_at,
    publishedAt: row.published_at ?? undefined,
    publishAt: row.publish_at ?? undefined,
    nonce: text(row.nonce),
    token: text(row.token),
    ...(row.unverified === 1 ? { isUnverified: true } : {}),
    ...(row.target_hash === null ? {} : { targetHash: row.target_hash }),
    ...(row.mismatched === 1 ? { isMismatched: true } : {}),
  }
}

function parsed<Value>(text: string | null): Value | undefined {
  return text === null ? undefined : (JSON.parse(text) as Value)
}
