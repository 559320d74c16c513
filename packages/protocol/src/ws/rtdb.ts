import Type, { type Static, type TSchema } from 'typebox'
import { JsonObject, Words } from '../schemas.ts'
import { rtdbLimits, rtdbOperators } from './rtdb-socket.ts'

export type RtdbOperator = (typeof rtdbOperators)[number]

const listOperators: readonly RtdbOperator[] = [
  'inArray',
  'notInArray',
  'arrayContainsAny',
  'arrayContainsAll',
]

const RtdbFilterSchema = Type.Object(
  Object.fromEntries(
    rtdbOperators.map((operator) => [
      operator,
      Type.Optional(
        listOperators.includes(operator)
          ? Type.Record(Type.String(), Type.Array(Type.Unknown()), { maxProperties: rtdbLimits.conditions })
          : Type.Unsafe<Record<string, unknown>>({ type: 'object', maxProperties: rtdbLimits.conditions }),
      ),
    ]),
  ),
)
export type RtdbFilter = { readonly [Operator in RtdbOperator]?: Readonly<Record<string, unknown>> }
const RtdbFilter = Type.Unsafe<RtdbFilter>(RtdbFilterSchema)

const RtdbSort = Type.Array(Type.Object({ field: Type.String(), ascending: Type.Boolean() }), {
  maxItems: rtdbLimits.sortFields,
})
export type RtdbSort = Static<typeof RtdbSort>

const RtdbAggregate = Type.Object({
  groupBy: Type.String(),
  ops: Type.Optional(
    Type.Array(Type.Object({ op: Words(['sum', 'avg', 'min', 'max']), field: Type.String() }), {
      maxItems: rtdbLimits.aggregateOps,
    }),
  ),
})
export type RtdbAggregate = Static<typeof RtdbAggregate>

const path = Type.String()
const select = Type.Optional(Type.Array(Type.String(), { maxItems: rtdbLimits.selectedFields }))
const count = Type.Optional(Type.Integer({ minimum: 0 }))

/** A value that the server computes within the transaction; it may stand anywhere in `data`. */
export type RtdbComputed =
  | { readonly $op: 'increment' | 'decrement'; readonly by?: number }
  | { readonly $op: 'multiply'; readonly by: number }
  | {
      readonly $op: 'append' | 'remove' | 'concat'
      readonly value?: unknown
      readonly values?: readonly unknown[]
    }
  | { readonly $op: 'setIfNotExists'; readonly value: unknown }
  | { readonly $op: 'min' | 'max'; readonly value: number | RtdbComputed }
  | { readonly $fn: 'now' }
  | {
      readonly $fn: 'lowercase' | 'uppercase' | 'trim' | 'slugify' | 'hash' | 'length'
      /** What it is computed of, also `{$field: name}`; what stands in its place when absent. */
      readonly args?: readonly [unknown]
    }
  | {
      readonly $query: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'exists' | 'first' | 'last'
      readonly path: string
      readonly field?: string
    }

/** `ref` names the document that a `create` makes, for `${$name}` in the paths of later operations. */
const RtdbOperation = Type.Union([
  Type.Object({
    type: Type.Literal('create'),
    path,
    data: JsonObject,
    ref: Type.Optional(Type.String({ pattern: '^\\$[A-Za-z_][A-Za-z0-9_]*$' })),
  }),
  Type.Object({ type: Type.Literal('update'), path, data: JsonObject }),
  Type.Object({ type: Type.Literal('replace'), path, data: JsonObject }),
  Type.Object({ type: Type.Literal('delete'), path }),
])
export type RtdbOperation = Static<typeof RtdbOperation>

/** What each type of request has beside `id` and `type`. Members that are not here are ignored. */
export const rtdbRequests = {
  ping: Type.Object({}),
  get: Type.Object({ path, select }),
  query: Type.Object({
    path,
    filter: Type.Optional(RtdbFilter),
    sort: Type.Optional(RtdbSort),
    limit: count,
    offset: count,
    aggregate: Type.Optional(RtdbAggregate),
    select,
  }),
  subscribe: Type.Object({
    path,
    filter: Type.Optional(RtdbFilter),
    aggregate: Type.Optional(RtdbAggregate),
    select,
    scope: Type.Optional(Words(['subtree', 'children', 'document'])),
  }),
  unsubscribe: Type.Object({ subscriptionId: Type.String() }),
  transaction: Type.Object({
    operations: Type.Array(RtdbOperation),
    txId: Type.Optional(Type.String({ minLength: 1, maxLength: rtdbLimits.txIdCharacters })),
  }),
  createIndex: Type.Object({ path, field: Type.String() }),
  lock: Type.Object({ path, mode: Type.Optional(Words(['soft', 'hard'])) }),
  unlock: Type.Object({ path }),
  presence: Type.Object({ state: Type.Union([JsonObject, Type.Null()]) }),
  auth: Type.Object({ token: Type.String() }),
} as const satisfies Readonly<Record<string, TSchema>>

export type RtdbRequestType = keyof typeof rtdbRequests
export type RtdbRequestData<Name extends RtdbRequestType> = Static<(typeof rtdbRequests)[Name]>

/** A document as it is read: `id` is its last path segment. */
export type RtdbDocument = { readonly id: string } & Readonly<Record<string, unknown>>

/** A row of an aggregate; further members are `sum_{field}`, `avg_{field}`, `min_{field}`, `max_{field}`. */
export type RtdbGroup = { readonly group: string; readonly count: number } & Readonly<Record<string, unknown>>

/** What an answer has beside `id` and `type`, which is the key here. Clients of this family throw away an answer with a member more. */
export interface RtdbAnswers {
  readonly pong: object
  readonly getResult: { readonly data: RtdbDocument | null }
  readonly queryResult: { readonly data: readonly (RtdbDocument | RtdbGroup)[] }
  readonly subscribeResult: { readonly subscriptionId: string }
  readonly unsubscribeResult: object
  readonly transactionResult: { readonly results: readonly RtdbOperationResult[] }
  readonly createIndexResult: object
  readonly lockResult:
    | { readonly locked: true }
    | { readonly locked: false; readonly holder: string; readonly mode: RtdbLockMode }
  readonly unlockResult: object
  readonly presenceResult: { readonly throttled?: true }
  readonly authResult: object
  readonly error: {
    readonly code: RtdbErrorCode
    readonly message: string
    readonly details?: Readonly<Record<string, unknown>>
  }
}

/** `id` of a document that was made or is meant; null after a deletion. */
export interface RtdbOperationResult {
  readonly ref: string | null
  readonly id: string | null
}

export type RtdbLockMode = 'soft' | 'hard'
export type RtdbErrorCode = 400 | 403 | 404 | 409 | 413 | 423 | 429 | 500

/** `event` of a `change`. A path has no leading slash. */
export type RtdbChange =
  | { readonly action: 'ready'; readonly path: string; readonly data: readonly (RtdbDocument | RtdbGroup)[] }
  | { readonly action: 'create'; readonly path: string; readonly data: RtdbDocument }
  | {
      readonly action: 'update'
      readonly path: string
      readonly data: RtdbDocument | readonly RtdbGroup[]
    }
  | { readonly action: 'delete'; readonly path: string }
  | {
      readonly action: 'lock'
      readonly path: string
      readonly data: { readonly userId: string; readonly mode: RtdbLockMode; readonly connId: string }
    }
  | {
      readonly action: 'unlock'
      readonly path: string
      readonly data: { readonly userId: string; readonly connId: string }
    }

/** `event` of a `presenceChange`. */
export type RtdbPresenceChange =
  | {
      readonly action: 'sync'
      readonly connId: string
      readonly users: readonly { readonly connId: string; readonly state: object }[]
    }
  | { readonly action: 'join' | 'update'; readonly connId: string; readonly state: object }
  | { readonly action: 'leave'; readonly connId: string }

/** What the server sends without being asked; `id` is random. */
export type RtdbPush =
  | {
      readonly type: 'change'
      readonly id: string
      readonly subscriptionId: string
      readonly event: RtdbChange
    }
  | { readonly type: 'presenceChange'; readonly id: string; readonly event: RtdbPresenceChange }
