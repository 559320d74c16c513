import Type, { type Static } from 'typebox'
import { type ActionType, actionTypeNames, actionTypes } from '../actions/index.ts'
import { IdTagInput, IsoTime, JsonObject, Nullable, TimestampInput, UnixTime, Words } from '../schemas.ts'
import { visibilityCodes } from '../visibility-codes.ts'
import { pictureMembers } from './picture-shapes.ts'

/** Who may read: everyone, authenticated, followers, connections, or the named ones (docs/protocol/visibility.md). */
export type Visibility = (typeof visibilityCodes)[number] | null
export const Visibility = Nullable(
  Words(visibilityCodes, {
    description:
      '`P` everybody, `V` everybody with an identity, `F` followers and connections, `C` connections; null: those who are named',
  }),
)

export const actionStatuses = ['R', 'S', 'A', 'D', 'C', 'N', 'P'] as const
export type ActionStatus = (typeof actionStatuses)[number]
export const ActionStatus = Words(actionStatuses, {
  description:
    '`R` draft, `S` scheduled, `A` active, `C` a request that awaits an answer, `N` new: an active one with the mark of a notification, `P` pending: attachments are being checked, `D` deleted or refused',
})

/** The content of an action; the OpenAPI document lists the members that each type knows. */
export const Content = Type.Unsafe<Record<string, unknown>>({
  ...JsonObject,
  description: `Members by type: ${Object.values<ActionType>(actionTypes).map(contentOf).join('; ')}`,
})

function contentOf({ type, content }: ActionType): string {
  if (!content) return `${type} none`
  const required = new Set<string>(content.required)
  const names = Object.keys(content.properties).map((name) => (required.has(name) ? name : `${name}?`))
  return `${type} ${names.join(', ')}`
}

/** Input: the id of a file; one in a bad form is answered like an unknown one. */
export const FileIdText = Type.String({ maxLength: 64, examples: [`b1~${'A'.repeat(43)}`] })

export const ActionStat = Type.Object({
  reactions: Type.Optional(Type.Integer()),
  comments: Type.Optional(Type.Integer()),
  commentsRead: Type.Optional(Type.Integer({ description: 'Of these, what the caller has listed' })),
  ownReaction: Type.Optional(Nullable(Type.String({ description: 'Of the caller' }))),
  views: Type.Optional(Type.Integer({ description: 'Views: each reader counts once a day' })),
  shares: Type.Optional(Type.Integer({ description: 'REPOST and SHRE of it' })),
})
export type ActionStat = Static<typeof ActionStat>

const actionMembers = {
  actionId: Type.String(),
  type: Type.String(),
  subType: Type.Optional(
    Type.String({ description: 'A kind of the type; `DEL` withdraws or ends what an earlier action began' }),
  ),
  parentId: Type.Optional(Type.String({ description: 'The action that it answers' })),
  rootId: Type.Optional(Type.String({ description: 'The first action of the thread' })),
  issuerTag: Type.String({ description: 'The identity that signs it' }),
  audienceTag: Type.Optional(Type.String({ description: 'The identity it is for' })),
  audience: Type.Optional(Type.Array(Type.String(), { description: 'The identities it is for' })),
  content: Type.Optional(Content),
  attachments: Type.Optional(Type.Array(Type.String(), { description: 'File ids' })),
  subject: Type.Optional(
    Type.String({ description: 'What it is about: an action, a file, an identity or a resource' }),
  ),
  expiresAt: Type.Optional(UnixTime),
  published: Type.Optional(UnixTime),
  publishAt: Type.Optional(UnixTime),
  visibility: Visibility,
  flags: Type.Optional(Type.String({ description: 'For clients' })),
  x: Type.Optional(JsonObject),
  status: ActionStatus,
}

/** An attachment as its action shows it. */
const AttachedFile = Type.Object({
  fileId: Type.String(),
  contentType: Type.String(),
  fileName: Type.String(),
  size: Type.Integer(),
  ...pictureMembers,
  alt: Type.Optional(Type.String({ description: 'What it shows, as `content.alt` says' })),
})
export type AttachedFile = Static<typeof AttachedFile>

/** An action as lists and single reads show it. */
export const Action = Type.Object({
  ...actionMembers,
  files: Type.Optional(
    Type.Array(AttachedFile, {
      description:
        'Of `attachments` those that are here and not in the trash, in their order; the server adds it, no token has it',
    }),
  ),
  unverified: Type.Optional(
    Type.Literal(true, {
      description:
        'An import has brought it along, and the signature of its issuer has not been verified: the tenant alone reads it (Ext)',
    }),
  ),
  mismatched: Type.Optional(
    Type.Literal(true, {
      description:
        'What is held here under the id of its subject or parent is not what its issuer meant, so the member that names it is left out (Ext)',
    }),
  ),
  issuer: Type.Object({
    idTag: Type.String(),
    name: Type.String(),
    profilePic: Type.Optional(Type.String()),
  }),
  createdAt: IsoTime,
  stat: ActionStat,
})
export type Action = Static<typeof Action>

/** An action as its creation answers it: Unix seconds in `createdAt` (docs/protocol/conventions.md, Times). */
export const CreatedAction = Type.Object({ ...actionMembers, createdAt: UnixTime })
export type CreatedAction = Static<typeof CreatedAction>

export const NewAction = Type.Object({
  type: Words(actionTypeNames),
  subType: Type.Optional(Type.String({ minLength: 1, maxLength: 32 })),
  parentId: Type.Optional(Type.String()),
  rootId: Type.Optional(Type.String()),
  audienceTag: Type.Optional(IdTagInput),
  audience: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
  content: Type.Optional(Content),
  attachments: Type.Optional(Type.Array(FileIdText, { maxItems: 50 })),
  subject: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
  expiresAt: Type.Optional(TimestampInput),
  visibility: Type.Optional(
    Type.Union([Words(visibilityCodes), Type.Null()], {
      description:
        'Null is direct. A comment or reaction that leaves it out has its root’s readers; null is for those whose root is direct itself',
    }),
  ),
  flags: Type.Optional(Type.String({ maxLength: 32 })),
  x: Type.Optional(JsonObject),
  draft: Type.Optional(Type.Boolean({ description: 'Keep it as a draft (status R)' })),
  publishAt: Type.Optional(TimestampInput),
  published: Type.Optional(TimestampInput),
  idempotencyKey: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
})
export type NewAction = Static<typeof NewAction>
