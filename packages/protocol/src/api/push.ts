import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'

const tag = 'Push notifications'
const publicKey = Type.String({ description: 'The uncompressed P-256 point (65 bytes) in base64url' })

/** The same key under the two names that clients use. */
export const VapidKeyView = Type.Object({ publicKey, vapidPublicKey: publicKey })
export type VapidKeyView = Static<typeof VapidKeyView>

export const getVapidKey = contract({
  name: 'getVapidKey',
  method: 'GET',
  path: '/api/auth/vapid',
  tag,
  summary:
    'The key with which the tenant introduces itself to push services (RFC 8292), made on the first request',
  auth: 'required',
  scope: 'read:notifications',
  reply: { kind: 'bare', status: 200, schema: VapidKeyView },
  errors: [],
})

const keyText = (bytes: number, what: string) =>
  Type.String({ maxLength: 4 * bytes, description: `${what}, in base64url` })

/** What `PushSubscription.toJSON()` gives in a browser. */
export const SubscribePushBody = Type.Object({
  subscription: Type.Object({
    endpoint: Type.String({ maxLength: 2048, description: 'The https URL of the push service' }),
    expirationTime: Type.Optional(
      Type.Union([Type.Number({ maximum: 8.64e15, description: 'Unix milliseconds' }), Type.Null()]),
    ),
    keys: Type.Object({
      p256dh: keyText(65, 'The uncompressed P-256 point of the browser (65 bytes)'),
      auth: keyText(16, 'The secret of the browser (16 bytes)'),
    }),
  }),
})
export type SubscribePushBody = Static<typeof SubscribePushBody>

export const subscribePush = contract({
  name: 'subscribePush',
  method: 'POST',
  path: '/api/notifications/subscription',
  tag,
  summary:
    'Have a browser notified when no client is connected; the same endpoint again keeps its number, and is 200',
  auth: 'required',
  // The browser is shown what the caller may read from now on.
  unscoped: true,
  role: 'moderator',
  body: { kind: 'json', schema: SubscribePushBody },
  reply: { kind: 'bare', status: 201, schema: Type.Object({ id: Type.Integer() }) },
  errors: ['E-UNAVAILABLE'],
})

export const unsubscribePush = contract({
  name: 'unsubscribePush',
  method: 'DELETE',
  path: '/api/notifications/subscription/{id}',
  tag,
  summary: 'Have a browser notified no more',
  auth: 'required',
  scope: 'write:notifications',
  params: Type.Object({ id: Type.Integer({ minimum: 1, description: 'The number of a subscription' }) }),
  reply: { kind: 'empty', status: 204 },
  errors: ['E-NOTFOUND'],
})

export const pushContracts = [getVapidKey, subscribePush, unsubscribePush]
