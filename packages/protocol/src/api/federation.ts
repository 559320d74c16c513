import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { DomainParam, IdTagInput, IsoTime, pageQuery, TimestampInput, Words } from '../schemas.ts'

const tag = 'Federation'

function Receipt<Status extends string>(statuses: readonly Status[]) {
  return Type.Object({ actionId: Type.String(), status: Words(statuses), verified: Type.Boolean() })
}

export const receiveAction = contract({
  name: 'receiveAction',
  method: 'POST',
  path: '/api/inbox',
  tag,
  summary: 'Deliver a signed action; it is verified now and processed soon',
  description:
    'With `verified: false` the issuer’s key could not be fetched yet: the token is kept, and stays invisible until it is verified. With an announcement (`ANNC`) comes the token that it announces.',
  auth: 'none',
  anyHost: true,
  bucket: 'inbox',
  body: { kind: 'jwt', beside: 'announced' },
  reply: { kind: 'data', status: 200, schema: Receipt(['received']) },
  errors: ['E-AUTH-UNAUTH', 'E-AUTH-FORBIDDEN', 'E-NOTFOUND', 'E-UNAVAILABLE'],
})

export const receiveActionSync = contract({
  name: 'receiveActionSync',
  method: 'POST',
  path: '/api/inbox/sync',
  tag,
  summary: 'Deliver a signed action and wait until it is processed',
  description:
    'Where very many tenants here receive the action and that takes longer than five seconds, the work continues after the answer, whose status is then `received`.',
  auth: 'none',
  anyHost: true,
  bucket: 'inbox-sync',
  body: { kind: 'jwt', beside: 'announced' },
  reply: { kind: 'data', status: 200, schema: Receipt(['processed', 'received']) },
  errors: [
    'E-AUTH-UNAUTH',
    'E-AUTH-FORBIDDEN',
    'E-NOTFOUND',
    'E-STATE',
    'E-ACTION-NOTFOUND',
    'E-UNAVAILABLE',
  ],
})

/** The most that one answer of the history holds: actions (and as many older offers of apps), comments in their threads,
 * tokens in all, and characters. */
export const historyLimits = {
  maxItems: 50,
  maxAgeSecs: 30 * 86_400,
  maxComments: 200,
  maxTokens: 650,
  maxChars: 900_000,
} as const

export const listOutbox = contract({
  name: 'listOutbox',
  method: 'GET',
  path: '/api/outbox',
  tag,
  summary: 'The tokens of this tenant’s newest actions that the bearer may read, oldest first',
  description:
    'For the server of a new follower. The newest actions of the last 30 days, at most 50, and before them what it has offered of apps longer ago, at most 50.',
  auth: 'optional',
  scope: 'read:actions',
  query: Type.Object({
    since: Type.Optional(TimestampInput),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: historyLimits.maxItems, description: 'Tokens at most' }),
    ),
  }),
  reply: { kind: 'data', status: 200, schema: Type.Object({ items: Type.Array(Type.String()) }) },
  errors: [],
})

/** A domain that is blocked for the whole server, with all domains below it. */
export const DomainBlockView = Type.Object({
  domain: Type.String(),
  reason: Type.Optional(Type.String()),
  createdBy: Type.String(),
  createdAt: IsoTime,
})
export type DomainBlockView = Static<typeof DomainBlockView>

const admin = { tag: 'Administration', auth: 'required', unscoped: true, role: 'SADM' } as const

export const listDomainBlocks = contract({
  ...admin,
  name: 'listDomainBlocks',
  method: 'GET',
  path: '/api/admin/domain-blocks',
  summary: 'The blocked domains, by name',
  query: Type.Object({ limit: pageQuery.limit, cursor: pageQuery.cursor }),
  reply: { kind: 'list', status: 200, schema: DomainBlockView },
  errors: [],
})

export const blockDomain = contract({
  ...admin,
  name: 'blockDomain',
  method: 'POST',
  path: '/api/admin/domain-blocks',
  summary: 'Block a domain: nothing is accepted from it, delivered to it or fetched from it',
  description:
    'A second block of the same domain changes its reason and answers 200. Only the owner of the base tenant blocks a domain that holds an administrator.',
  body: {
    kind: 'json',
    schema: Type.Object({
      domain: IdTagInput,
      reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    }),
  },
  reply: { kind: 'data', status: 201, schema: DomainBlockView },
  errors: ['E-STATE'],
  example: { body: { domain: 'spam.example.com', reason: 'Nothing but advertisements' } },
})

export const unblockDomain = contract({
  ...admin,
  name: 'unblockDomain',
  method: 'DELETE',
  path: '/api/admin/domain-blocks/{domain}',
  summary: 'Remove the block of a domain',
  description: 'Only the owner of the base tenant ends the block of a domain that holds an administrator.',
  params: Type.Object({ domain: DomainParam('The domain that is blocked') }),
  reply: { kind: 'data', status: 200, schema: Type.Object({ domain: Type.String() }) },
  errors: ['E-NOTFOUND'],
})

/** A server to which actions are delivered. */
export const DeliveryHost = Type.Object({
  host: Type.String(),
  queued: Type.Integer({ description: 'Deliveries that wait or are tried again; counted up to 10 000' }),
  failures: Type.Integer({ description: 'In a row; 0 when the last delivery arrived' }),
  oldestAt: Type.Optional({ ...IsoTime, description: 'When the oldest of them was queued' }),
  lastTriedAt: Type.Optional(IsoTime),
  restsUntil: Type.Optional(IsoTime),
})
export type DeliveryHost = Static<typeof DeliveryHost>

export const listDeliveryHosts = contract({
  ...admin,
  name: 'listDeliveryHosts',
  method: 'GET',
  path: '/api/admin/deliveries',
  summary: 'The servers to which actions are delivered, by name, with the state of their deliveries',
  description:
    'After five failures in a row a server rests until `restsUntil`, and is then tried with one delivery; each failure doubles the rest, up to an hour. With `failing`, only those whose last delivery did not arrive.',
  query: Type.Object({
    limit: pageQuery.limit,
    cursor: pageQuery.cursor,
    failing: Type.Optional(Type.Boolean({ description: 'Only those whose last delivery failed' })),
  }),
  reply: { kind: 'list', status: 200, schema: DeliveryHost },
  errors: [],
})

export const federationContracts = [
  receiveAction,
  receiveActionSync,
  listOutbox,
  listDeliveryHosts,
  listDomainBlocks,
  blockDomain,
  unblockDomain,
]
