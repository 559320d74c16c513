import Type from 'typebox'
import { contract } from '../contract.ts'
import { Words } from '../schemas.ts'

const tag = 'Federation'

function Receipt(status: 'received' | 'processed') {
  return Type.Object({ actionId: Type.String(), status: Words([status]), verified: Type.Boolean() })
}

export const receiveAction = contract({
  name: 'receiveAction',
  method: 'POST',
  path: '/api/inbox',
  tag,
  summary: 'Deliver a signed action; it is verified now and processed soon',
  description:
    'With `verified: false` the issuer’s key could not be had yet: the token is kept, and stays invisible until it is verified.',
  auth: 'none',
  anyHost: true,
  bucket: 'inbox',
  body: { kind: 'jwt' },
  reply: { kind: 'data', status: 200, schema: Receipt('received') },
  errors: ['E-AUTH-UNAUTH', 'E-AUTH-FORBIDDEN', 'E-NOTFOUND', 'E-UNAVAILABLE'],
})

export const receiveActionSync = contract({
  name: 'receiveActionSync',
  method: 'POST',
  path: '/api/inbox/sync',
  tag,
  summary: 'Deliver a signed action and wait until it is processed',
  auth: 'none',
  anyHost: true,
  bucket: 'inbox',
  body: { kind: 'jwt' },
  reply: { kind: 'data', status: 200, schema: Receipt('processed') },
  errors: [
    'E-AUTH-UNAUTH',
    'E-AUTH-FORBIDDEN',
    'E-NOTFOUND',
    'E-STATE',
    'E-ACTION-NOTFOUND',
    'E-UNAVAILABLE',
  ],
})

export const federationContracts = [receiveAction, receiveActionSync]
