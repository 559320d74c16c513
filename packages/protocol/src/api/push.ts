import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'

const publicKey = Type.String({ description: 'The uncompressed P-256 point (65 bytes) in base64url' })

/** The same key under the two names that clients use. */
export const VapidKeyView = Type.Object({ publicKey, vapidPublicKey: publicKey })
export type VapidKeyView = Static<typeof VapidKeyView>

export const getVapidKey = contract({
  name: 'getVapidKey',
  method: 'GET',
  path: '/api/auth/vapid',
  tag: 'Push notifications',
  summary:
    'The key with which the tenant introduces itself to push services (RFC 8292), made on the first request',
  auth: 'required',
  scope: 'read:notifications',
  reply: { kind: 'bare', status: 200, schema: VapidKeyView },
  errors: [],
})

export const pushContracts = [getVapidKey]
