import Type, { type Static, type TSchema } from 'typebox'
import { Action, ActionStat, actionStatuses } from '../api/action-shapes.ts'
import { ConversationUnread } from '../api/conversations.ts'
import { fileStatuses } from '../api/files.ts'
import { JsonObject, Words } from '../schemas.ts'

const RequestId = Type.Optional(Type.Union([Type.String(), Type.Number()]))

/** Commands of clients, with the `data` of each. */
export const busCommands = {
  ping: Type.Object({}),
  /** `since`: the number of the last event that the client has seen. */
  subscribe: Type.Object({ since: Type.Optional(Type.Integer({ minimum: 0 })) }),
  auth: Type.Object({ token: Type.String() }),
  presence: Type.Object({ state: Words(['active', 'idle']) }),
} as const satisfies Readonly<Record<string, TSchema>>

export type BusCommand = keyof typeof busCommands
export type BusCommandData<Command extends BusCommand> = Static<(typeof busCommands)[Command]>

/** A message from a client. The answer repeats `id` as it was sent; without one it has none. */
export const BusRequest = Type.Object({
  id: RequestId,
  cmd: Type.String(),
  data: Type.Optional(JsonObject),
})
export type BusRequest = Static<typeof BusRequest>

/** Another form of a subscription, of clients that name a path; there is one stream, so its path is not looked at. */
export const BusSubscription = Type.Object({ id: RequestId, type: Type.Literal('subscribe') })

/** The answer to every command. `message` explains an `error`. */
export interface BusAck {
  readonly id?: string | number
  readonly cmd: 'ack'
  readonly data: {
    readonly status: 'ok' | 'pong' | 'error'
    readonly message?: string
    /** `gap`: older events are kept no longer, load anew. `rate`: too many, wait. */
    readonly code?: 'gap' | 'rate'
    /** Of `subscribe`: from this number on nothing will be missed. */
    readonly seq?: number
  }
}

/** Events of the server, with the `data` of each. */
export const busEvents = {
  /** An action that newly concerns the tenant, as `GET /api/actions/{id}` shows it to this account. */
  ACTION: Action,
  /** To its issuer and its target. */
  ACTION_STATUS: Type.Object({ actionId: Type.String(), status: Words(actionStatuses) }),
  /** At most once a second for each action. */
  STAT: Type.Object({ actionId: Type.String(), stat: ActionStat }),
  /** A message came or went, or messages were marked as read; to the tenant's own devices. */
  CONVERSATION: ConversationUnread,
  /** To the owner and those the file is shared with. */
  FILE: Type.Object({
    fileId: Type.String(),
    status: Words(fileStatuses),
    event: Words(['created', 'updated', 'deleted', 'shared', 'unshared']),
  }),
  /** What has changed on a profile, to those who follow it. */
  PROFILE: Type.Object({
    idTag: Type.String(),
    name: Type.Optional(Type.String()),
    profilePic: Type.Optional(Type.String()),
    coverPic: Type.Optional(Type.String()),
    x: Type.Optional(JsonObject),
  }),
  /** Name and value, to the devices of the account that changed it. */
  SETTING: Type.Unsafe<readonly [name: string, value: unknown]>({
    type: 'array',
    minItems: 2,
    maxItems: 2,
    items: {},
  }),
  SESSION: Type.Object({ event: Words(['signed-in', 'revoked']), sid: Type.String() }),
} as const satisfies Readonly<Record<string, TSchema>>

export type BusEventName = keyof typeof busEvents
export type BusEventData<Name extends BusEventName> = Static<(typeof busEvents)[Name]>

/** An event. `seq` grows within an account; events that cannot be replayed have none. */
export type BusEvent = {
  [Name in BusEventName]: {
    readonly id: string
    readonly cmd: Name
    readonly data: BusEventData<Name>
    readonly seq?: number
  }
}[BusEventName]
