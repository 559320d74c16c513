import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { ActionIdParam, IsoTime, pageQuery, Words } from '../schemas.ts'

export const DeliveryView = Type.Object({
  server: Type.String(),
  recipients: Type.Array(Type.String()),
  state: Words(['queued', 'retrying', 'delivered', 'stopped']),
  attempts: Type.Integer(),
  lastError: Type.Optional(Type.String()),
  lastAttemptAt: Type.Optional(IsoTime),
  nextAttemptAt: Type.Optional(IsoTime),
})
export type DeliveryView = Static<typeof DeliveryView>

/** The largest offset into the deliveries of an action; `total` stops there too. */
export const maxDeliveryOffset = 100_000

export const listDeliveries = contract({
  name: 'listDeliveries',
  method: 'GET',
  path: '/api/actions/{actionId}/deliveries',
  tag: 'Actions',
  summary: 'The state of the deliveries of an action, or of its deletion, to other servers',
  description:
    'Deliveries to many servers are queued in portions: until all are queued, the last entry has the server `unknown` and no recipients.',
  auth: 'required',
  gateway: true,
  scope: 'read:actions',
  params: Type.Object({ actionId: ActionIdParam }),
  query: Type.Object({
    limit: pageQuery.limit,
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: maxDeliveryOffset, description: 'How many to leave out' }),
    ),
  }),
  reply: { kind: 'list', status: 200, schema: DeliveryView },
  errors: ['E-ACTION-NOTFOUND'],
})
