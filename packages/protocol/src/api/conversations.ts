import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IsoTime, pageQuery, sortDirection } from '../schemas.ts'
import { Action } from './action-shapes.ts'

const tag = 'Conversations'
const role = 'moderator'

/** More unread messages than this are not counted. */
export const maxUnread = 1_000

/** How many messages of a conversation are unread. */
export const ConversationUnread = Type.Object({
  conversationId: Type.String({ examples: [`c1~${'A'.repeat(43)}`] }),
  unread: Type.Integer({
    minimum: 0,
    maximum: maxUnread,
    description: `Messages of others that are not marked as read; ${maxUnread} stands for more as well`,
  }),
})
export type ConversationUnread = Static<typeof ConversationUnread>

/** The messages between the same identities; of three or more, those under the same first message. */
export const Conversation = Type.Object({
  ...ConversationUnread.properties,
  participants: Type.Array(
    Type.Object({
      idTag: Type.String(),
      name: Type.String(),
      profilePic: Type.Optional(Type.String()),
    }),
    { description: 'All but the tenant; the tenant alone where it writes to itself' },
  ),
  rootId: Type.Optional(
    Type.String({
      description: 'Of a conversation of three or more: its first message, which every other answers',
    }),
  ),
  lastMessage: Type.Optional(Action),
  firstUnreadId: Type.Optional(
    Type.String({ description: 'The unread message that arrived first; absent where nothing is unread' }),
  ),
  updatedAt: IsoTime,
  request: Type.Optional(
    Type.Literal(true, {
      description: 'A stranger began it, whom the tenant has not answered',
    }),
  ),
})
export type Conversation = Static<typeof Conversation>

export const listConversations = contract({
  name: 'listConversations',
  method: 'GET',
  path: '/api/conversations',
  tag,
  summary: 'The conversations of the tenant, the one with the newest message first',
  description:
    'For the owner, on a community’s host for moderators. Left out are conversations with one identity that is blocked or muted, and messages of such identities in others.',
  auth: 'required',
  scope: 'read:actions',
  role,
  query: Type.Object({ limit: pageQuery.limit, cursor: pageQuery.cursor }),
  reply: { kind: 'list', status: 200, schema: Conversation },
  errors: [],
})

const params = Type.Object({
  conversationId: Type.String({
    maxLength: 64,
    description: 'The id of a conversation',
    examples: [`c1~${'A'.repeat(43)}`],
  }),
})

export const listMessages = contract({
  name: 'listMessages',
  method: 'GET',
  path: '/api/conversations/{conversationId}/messages',
  tag,
  summary: 'The messages of a conversation, the last to arrive first',
  description:
    'In the order of their arrival. To open a conversation at its first unread message: `from` with its `firstUnreadId`, once with `sortDir=asc` for it and what came after it, once without for it and what was there before; each goes on with its own cursor.',
  auth: 'required',
  scope: 'read:actions',
  role,
  params,
  query: Type.Object({
    limit: pageQuery.limit,
    cursor: pageQuery.cursor,
    from: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'The message with which the first page begins: an action id. A cursor takes its place',
      }),
    ),
    sortDir: Type.Optional(sortDirection),
  }),
  reply: { kind: 'list', status: 200, schema: Action },
  errors: ['E-NOTFOUND', 'E-ACTION-NOTFOUND'],
})

export const markConversationRead = contract({
  name: 'markConversationRead',
  method: 'POST',
  path: '/api/conversations/{conversationId}/read',
  tag,
  summary: 'Mark the messages of a conversation as read, up to one of them',
  description:
    'In the order of their arrival. A mark never goes back: an older message changes nothing. It holds for all devices, and for all moderators of a community. No other server is told: for that there is ACK.',
  auth: 'required',
  scope: 'write:actions',
  role,
  params,
  body: {
    kind: 'json',
    schema: Type.Object({
      upTo: Type.String({ maxLength: 64, description: 'The newest message that was seen: an action id' }),
    }),
  },
  reply: { kind: 'data', status: 200, schema: ConversationUnread },
  errors: ['E-NOTFOUND', 'E-ACTION-NOTFOUND'],
  example: { body: { upTo: `a1~${'A'.repeat(43)}` } },
})

export const conversationContracts = [listConversations, listMessages, markConversationRead]
