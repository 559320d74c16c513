import { type ActionId, type CursorPage, type IdTag, maxUnread } from '@kith/protocol'
import { type Expression, type SqlBool, sql } from 'kysely'
import { isListed, keysetPage, type Reader, serverTenant } from '#infra/db/index.ts'
import type { ConversationTables } from './conversation-store.ts'

interface ListTables extends ConversationTables {
  profiles: { id_tag: string; name: string; profile_pic: string | null }
}

/** A conversation as the tenant sees it now. */
export interface ListedConversation {
  readonly conversationId: string
  readonly participants: readonly IdTag[]
  readonly rootId: ActionId | undefined
  readonly starterTag: IdTag
  readonly hasOwn: boolean
  readonly lastAt: number
  readonly lastMessageId: ActionId | undefined
  readonly unread: number
  readonly firstUnreadId: ActionId | undefined
}

export interface Looking {
  readonly ownTag: IdTag
  /** Unix seconds. */
  readonly now: number
  /** The tenant or the server blocks or mutes somebody. */
  readonly hasBlocksOrMutes: boolean
}

// Where members of a group are muted, their messages are passed over to find the newest one that is shown.
const longestLookBack = 1_000

const order = {
  sort: 'updated',
  column: 'c.last_at',
  kind: 'integer',
  idColumn: 'c.conversation_id',
  idKind: 'text',
} as const

/** A page of conversations, the newest first: each costs an index look-up for its last message, and at most `maxUnread`
 * entries of an index for its count. */
export async function listConversationPage(
  reader: Reader,
  looking: Looking,
  page: { readonly limit: number; readonly cursor: string | undefined },
): Promise<CursorPage<ListedConversation>> {
  const { items, nextCursor } = await keysetPage(selectShown(reader, looking), order, {
    ...page,
    direction: 'desc',
  })
  return {
    items: items.map((row) => ({
      conversationId: row.conversation_id,
      participants: JSON.parse(row.participants) as IdTag[],
      rootId: (row.root_id ?? undefined) as ActionId | undefined,
      starterTag: row.starter_tag as IdTag,
      hasOwn: row.has_own === 1,
      lastAt: row.last_at,
      lastMessageId: (row.last_message_id ?? undefined) as ActionId | undefined,
      unread: Number(row.unread),
      firstUnreadId: (row.first_unread_id ?? undefined) as ActionId | undefined,
    })),
    nextCursor,
  }
}

/** Undefined where the tenant has no such conversation, or is not shown it. */
export async function findUnread(
  reader: Reader,
  looking: Looking,
  conversationId: string,
): Promise<number | undefined> {
  const row = await selectShown(reader, looking)
    .where('c.conversation_id', '=', conversationId)
    .executeTakeFirst()
  return row && Number(row.unread)
}

function selectShown(reader: Reader, looking: Looking) {
  const messages = sql`conversation_messages as m
    where m.tenant_id = c.tenant_id and m.conversation_id = c.conversation_id`
  const isShown = isShownMessage(reader, looking)
  const unread = sql`${messages} and m.position > c.read_position
    and m.issuer_tag <> ${looking.ownTag} and ${isShown}`
  return reader
    .tables<ListTables>()
    .selectFrom('conversations as c')
    .selectAll('c')
    .select([
      sql<
        string | null
      >`(select m.action_id from ${messages} and m.position > c.last_position - ${longestLookBack}
        and ${isShown} order by m.position desc limit 1)`.as('last_message_id'),
      sql<number>`(select count(*) from (select 1 from ${unread} limit ${maxUnread}) as counted)`.as(
        'unread',
      ),
      sql<string | null>`(select m.action_id from ${unread} order by m.position limit 1)`.as(
        'first_unread_id',
      ),
    ])
    .where('c.tenant_id', '=', reader.tenantId)
    .where(isShownConversation(reader, looking))
}

/** The tenant is shown the conversation `c`. */
export function isShownConversation(reader: Reader, { hasBlocksOrMutes }: Looking): Expression<SqlBool> {
  if (!hasBlocksOrMutes) return sql<SqlBool>`true`
  return sql<SqlBool>`(c.other_tag is null or not ${isHidden(reader, 'c.other_tag')})`
}

/** The tenant is shown the message `m` of the conversation `c`, which it is shown. */
export function isShownMessage(
  reader: Reader,
  { ownTag, now, hasBlocksOrMutes }: Looking,
): Expression<SqlBool> {
  const isCurrent = sql<SqlBool>`(m.expires_at is null or m.expires_at > ${now})`
  if (!hasBlocksOrMutes) return isCurrent
  // In a conversation of two the other was looked up already.
  return sql<SqlBool>`${isCurrent}
    and (c.other_tag is not null or m.issuer_tag = ${ownTag} or not ${isHidden(reader, 'm.issuer_tag')})`
}

function isHidden({ tenantId }: Reader, column: string): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from relations as r
    where r.tenant_id in (${tenantId}, ${sql.lit(serverTenant)})
    and r.id_tag = ${sql.ref(column)} and r.is_blocked_or_muted = 1)`
}

/** Names and pictures of identities, as far as they are known. */
export async function listParticipants(
  reader: Reader,
  idTags: readonly IdTag[],
): Promise<ReadonlyMap<string, { readonly name: string; readonly profilePic: string | undefined }>> {
  if (idTags.length === 0) return new Map()
  const rows = await reader
    .tables<ListTables>()
    .selectFrom('profiles')
    .select(['id_tag', 'name', 'profile_pic'])
    .where(isListed(reader.dialect, 'id_tag', sql`${JSON.stringify(idTags)}`))
    .execute()
  return new Map(
    rows.map(({ id_tag, name, profile_pic }) => [id_tag, { name, profilePic: profile_pic ?? undefined }]),
  )
}
