import Type from 'typebox'
import { maxActionTokenLength } from '../action-token.ts'
import { actionTypeNames, reactionKinds } from '../actions/index.ts'
import { contract } from '../contract.ts'
import {
  ActionIdParam,
  CommaList,
  filteredPageQuery,
  IdTagOf,
  JsonObject,
  Nullable,
  sortDirection,
  TimestampInput,
  Words,
} from '../schemas.ts'
import {
  Action,
  ActionStat,
  ActionStatus,
  actionStatuses,
  Content,
  CreatedAction,
  FileIdText,
  NewAction,
  Visibility,
} from './action-shapes.ts'
import { listDeliveries } from './deliveries.ts'

const tag = 'Actions'

// Base64url takes four characters for three bytes.
const aboutKilobytes = Math.floor((maxActionTokenLength * 3) / 4 / 1000)

const params = Type.Object({ actionId: ActionIdParam })
const changedMembers = {
  actionId: Type.String(),
  type: Type.String(),
  status: ActionStatus,
}

export const listActions = contract({
  name: 'listActions',
  method: 'GET',
  path: '/api/actions',
  tag,
  summary: 'The actions this tenant holds and the caller may read',
  auth: 'optional',
  gateway: true,
  scope: 'read:actions',
  query: Type.Object({
    ...filteredPageQuery,
    type: Type.Optional(CommaList(actionTypeNames)),
    status: Type.Optional(CommaList(actionStatuses)),
    issuer: Type.Optional(IdTagOf('Who signed them')),
    audience: Type.Optional(IdTagOf('To whom they are addressed')),
    involved: Type.Optional(IdTagOf('Issuer, audience or subject')),
    parentId: Type.Optional(Type.String({ description: 'Direct answers to this action' })),
    rootId: Type.Optional(Type.String({ description: 'Everything in the thread of this action' })),
    subject: Type.Optional(
      Type.String({ description: 'What they are about: an action, a file or an identity' }),
    ),
    actionId: Type.Optional(CommaList()),
    tag: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'One of `content.tags`, or a `#tag` in the text; without `#`',
      }),
    ),
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'At most 10 words, or beginnings of words, in title, text and summary',
      }),
    ),
    createdAfter: Type.Optional(TimestampInput),
    createdBefore: Type.Optional(TimestampInput),
    excludeOwn: Type.Optional(Type.Boolean({ description: 'Without those that the tenant signed' })),
    sort: Type.Optional(Words(['created'], { description: 'The only order there is' })),
    sortDir: Type.Optional(sortDirection),
  }),
  queryAliases: { issuerTag: 'issuer', actionIds: 'actionId' },
  reply: { kind: 'list', status: 200, schema: Action },
  errors: [],
})

export const createAction = contract({
  name: 'createAction',
  method: 'POST',
  path: '/api/actions',
  tag,
  summary: 'Make an action: it is signed, stored and queued for delivery',
  description: `The token of an action has at most ${maxActionTokenLength} characters, which is about ${aboutKilobytes} kB of JSON in UTF-8 for all members together. A text of 50 000 characters beyond the Basic Multilingual Plane, such as emoji, is more: 413, and \`details.issues\` name the largest member. \`expiresAt\` lies in the future, \`publishAt\` before it and within ten years. To attach a file needs a credential that may share it (no scope, \`admin\` or \`admin:files\`), or the one with which it was made.`,
  auth: 'required',
  gateway: true,
  scope: 'write:actions',
  body: { kind: 'json', schema: NewAction },
  reply: { kind: 'data', status: 201, schema: CreatedAction },
  errors: [
    'E-AUTH-FORBIDDEN',
    'E-ACTION-NOTFOUND',
    'E-FILE-NOTFOUND',
    'E-PROFILE-NOTFOUND',
    'E-DUPLICATE',
    'E-STATE',
    'E-UNAVAILABLE',
  ],
  example: { body: { type: 'POST', content: { text: 'Hello' }, visibility: 'P' } },
})

export const getAction = contract({
  name: 'getAction',
  method: 'GET',
  path: '/api/actions/{actionId}',
  tag,
  summary: 'One action',
  auth: 'optional',
  gateway: true,
  scope: 'read:actions',
  params,
  reply: { kind: 'data', status: 200, schema: Action },
  errors: ['E-ACTION-NOTFOUND'],
})

export const deleteAction = contract({
  name: 'deleteAction',
  method: 'DELETE',
  path: '/api/actions/{actionId}',
  tag,
  summary:
    'Delete the caller’s own action, here and on every server that received it; or, as the owner or as a moderator of a community, remove another identity’s action from this tenant alone',
  auth: 'required',
  gateway: true,
  scope: 'write:actions',
  params,
  query: Type.Object({
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          'Why another identity’s action is removed: kept in the audit trail, and told to nobody else',
      }),
    ),
  }),
  reply: { kind: 'data', status: 200, schema: Type.Literal('ok') },
  errors: ['E-ACTION-NOTFOUND', 'E-AUTH-FORBIDDEN', 'E-STATE'],
})

export const updateAction = contract({
  name: 'updateAction',
  method: 'PATCH',
  path: '/api/actions/{actionId}',
  tag,
  summary: 'Change a draft',
  auth: 'required',
  gateway: true,
  scope: 'write:actions',
  params,
  body: {
    kind: 'json',
    schema: Type.Object({
      content: Type.Optional(Content),
      attachments: Type.Optional(Type.Array(FileIdText, { maxItems: 50 })),
      visibility: Type.Optional(Visibility),
      flags: Type.Optional(Type.String({ maxLength: 32 })),
      x: Type.Optional(JsonObject),
    }),
  },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ ...changedMembers, content: Type.Optional(Content) }),
  },
  errors: ['E-ACTION-NOTFOUND', 'E-AUTH-FORBIDDEN', 'E-STATE', 'E-FILE-NOTFOUND'],
  example: { body: { content: { text: 'Better words' } } },
})

export const publishAction = contract({
  name: 'publishAction',
  method: 'POST',
  path: '/api/actions/{actionId}/publish',
  tag,
  summary: 'Publish a draft, now or at a time',
  auth: 'required',
  gateway: true,
  scope: 'write:actions',
  params,
  body: {
    kind: 'json',
    optional: true,
    schema: Type.Object({ publishAt: Type.Optional(TimestampInput) }),
  },
  reply: { kind: 'data', status: 200, schema: Type.Object(changedMembers) },
  errors: [
    'E-ACTION-NOTFOUND',
    'E-AUTH-FORBIDDEN',
    'E-STATE',
    'E-FILE-NOTFOUND',
    'E-PROFILE-NOTFOUND',
    'E-UNAVAILABLE',
  ],
})

export const cancelAction = contract({
  name: 'cancelAction',
  method: 'POST',
  path: '/api/actions/{actionId}/cancel',
  tag,
  summary: 'Make a scheduled action a draft again',
  auth: 'required',
  gateway: true,
  scope: 'write:actions',
  params,
  reply: { kind: 'data', status: 200, schema: Type.Object(changedMembers) },
  errors: ['E-ACTION-NOTFOUND', 'E-AUTH-FORBIDDEN', 'E-STATE'],
})

/* @__NO_SIDE_EFFECTS__ */
function answerContract(verdict: 'accept' | 'reject', summary: string) {
  return contract({
    name: `${verdict}Action`,
    method: 'POST',
    path: `/api/actions/{actionId}/${verdict}`,
    tag,
    summary,
    auth: 'required',
    gateway: true,
    scope: 'write:actions',
    params,
    reply: {
      kind: 'data',
      status: 200,
      schema: Type.Object({ actionId: Type.String(), status: ActionStatus }),
    },
    errors: ['E-ACTION-NOTFOUND', 'E-AUTH-FORBIDDEN', 'E-STATE', 'E-FILE-NOTFOUND', 'E-UNAVAILABLE'],
  })
}

export const acceptAction = answerContract('accept', 'Accept a request that awaits this tenant')
export const rejectAction = answerContract('reject', 'Refuse a request that awaits this tenant')

export const dismissAction = contract({
  name: 'dismissAction',
  method: 'POST',
  path: '/api/actions/{actionId}/dismiss',
  tag,
  summary: 'Mark a notification as read',
  auth: 'required',
  gateway: true,
  scope: 'write:actions',
  params,
  reply: { kind: 'data', status: 200, schema: Type.Null() },
  errors: ['E-ACTION-NOTFOUND'],
})

export const setReaction = contract({
  name: 'setReaction',
  method: 'POST',
  path: '/api/actions/{actionId}/reaction',
  tag,
  summary: 'React to an action, or withdraw the reaction',
  auth: 'required',
  gateway: true,
  scope: 'write:actions',
  params,
  body: { kind: 'json', schema: Type.Object({ type: Nullable(Words(reactionKinds)) }) },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ actionId: Type.String(), stat: ActionStat }),
  },
  errors: ['E-ACTION-NOTFOUND', 'E-AUTH-FORBIDDEN', 'E-UNAVAILABLE'],
  example: { body: { type: 'LOVE' } },
})

const Count = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 }))

export const setStat = contract({
  name: 'setStat',
  method: 'POST',
  path: '/api/actions/{actionId}/stat',
  tag,
  summary: 'Set counters of an action; counting goes on from there',
  description: 'Only for administrators, on the base tenant’s host: for actions that the base tenant holds.',
  auth: 'required',
  scope: 'admin:actions',
  role: 'SADM',
  params,
  body: {
    kind: 'json',
    schema: Type.Object({ reactions: Count, comments: Count, views: Count }),
  },
  reply: { kind: 'data', status: 200, schema: ActionStat },
  errors: ['E-ACTION-NOTFOUND'],
})

export const actionContracts = [
  listActions,
  createAction,
  getAction,
  updateAction,
  deleteAction,
  publishAction,
  cancelAction,
  acceptAction,
  rejectAction,
  dismissAction,
  setReaction,
  setStat,
  listDeliveries,
]
