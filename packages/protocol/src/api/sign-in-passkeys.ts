import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IdTagOf, IsoTime, JsonObject } from '../schemas.ts'
import { LoginSession } from './login-session.ts'

const tag = 'Passkeys'

/** A passkey of an account. */
export const PasskeyView = Type.Object({
  keyId: Type.String(),
  name: Type.String(),
  createdAt: IsoTime,
  lastUsedAt: Type.Optional(IsoTime),
})
export type PasskeyView = Static<typeof PasskeyView>

const options = JsonObject

/** A challenge for signing in; `options` is ready for `navigator.credentials.get` in JSON form. */
export const PasskeyLoginChallenge = Type.Object({
  challenge: Type.String(),
  rpId: Type.String(),
  allowCredentials: Type.Array(
    Type.Object({
      type: Type.Literal('public-key'),
      id: Type.String(),
      transports: Type.Optional(Type.Array(Type.String())),
    }),
  ),
  options,
})
export type PasskeyLoginChallenge = Static<typeof PasskeyLoginChallenge>

const base64url = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+={0,2}$' })
const credentialId = base64url(1368)
const passkeyName = Type.String({ minLength: 1, maxLength: 100 })
const credentialType = Type.Literal('public-key')

/** The answer of an authenticator to a challenge for signing in. */
export const PasskeyAnswer = Type.Object({
  id: credentialId,
  rawId: credentialId,
  response: Type.Object({
    clientDataJSON: base64url(16_384),
    authenticatorData: base64url(16_384),
    signature: base64url(4096),
    userHandle: Type.Optional(Type.String({ maxLength: 128 })),
  }),
  type: credentialType,
})

export const listPasskeys = contract({
  name: 'listPasskeys',
  method: 'GET',
  path: '/api/auth/wa/reg',
  tag,
  summary: 'The passkeys of this account',
  auth: 'personal',
  unscoped: true,
  role: 'leader',
  reply: { kind: 'data', status: 200, schema: Type.Array(PasskeyView) },
  errors: ['E-AUTH-FORBIDDEN'],
})

export const getPasskeyChallenge = contract({
  name: 'getPasskeyChallenge',
  method: 'GET',
  path: '/api/auth/wa/reg/challenge',
  tag,
  summary: 'A challenge for adding a passkey, valid once and for 120 s',
  auth: 'personal',
  role: 'leader',
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({
      challenge: Type.String(),
      rpId: Type.String(),
      rpName: Type.String(),
      userId: Type.String(),
      userName: Type.String(),
      options,
    }),
  },
  errors: ['E-AUTH-FORBIDDEN'],
})

export const addPasskey = contract({
  name: 'addPasskey',
  method: 'POST',
  path: '/api/auth/wa/reg',
  tag,
  summary: 'Add a passkey; needs a sign-in within the last 15 minutes',
  auth: 'personal',
  role: 'leader',
  body: {
    kind: 'json',
    schema: Type.Object({
      name: passkeyName,
      credential: Type.Object({
        id: credentialId,
        rawId: credentialId,
        response: Type.Object({
          clientDataJSON: base64url(16_384),
          attestationObject: base64url(65_536),
          transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 8 })),
        }),
        type: credentialType,
      }),
    }),
  },
  reply: { kind: 'data', status: 201, schema: PasskeyView },
  errors: ['E-AUTH-BADCRED', 'E-AUTH-FORBIDDEN', 'E-DUPLICATE', 'E-STATE'],
})

const keyParams = Type.Object({ keyId: Type.String({ maxLength: 1368, description: 'The id of a passkey' }) })

export const renamePasskey = contract({
  name: 'renamePasskey',
  method: 'PATCH',
  path: '/api/auth/wa/reg/{keyId}',
  tag,
  summary: 'Name a passkey anew; needs a sign-in within the last 15 minutes',
  auth: 'personal',
  role: 'leader',
  params: keyParams,
  body: { kind: 'json', schema: Type.Object({ name: passkeyName }) },
  reply: { kind: 'data', status: 200, schema: PasskeyView },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND'],
})

export const deletePasskey = contract({
  name: 'deletePasskey',
  method: 'DELETE',
  path: '/api/auth/wa/reg/{keyId}',
  tag,
  summary: 'Remove a passkey; the last one stays while there is no password',
  auth: 'personal',
  role: 'leader',
  params: keyParams,
  reply: { kind: 'data', status: 200, schema: Type.Literal('ok') },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND', 'E-STATE'],
})

export const getPasskeyLoginChallenge = contract({
  name: 'getPasskeyLoginChallenge',
  method: 'GET',
  path: '/api/auth/wa/login/challenge',
  tag,
  summary: 'A challenge for signing in, valid once and for 120 s',
  auth: 'none',
  bucket: 'sign-in',
  query: Type.Object({ idTag: Type.Optional(IdTagOf('Whose passkeys; any of the device when absent')) }),
  reply: { kind: 'data', status: 200, schema: PasskeyLoginChallenge },
  errors: [],
})

export const loginWithPasskey = contract({
  name: 'loginWithPasskey',
  method: 'POST',
  path: '/api/auth/wa/login',
  tag,
  summary: 'Sign in with a passkey',
  auth: 'none',
  bucket: 'sign-in',
  body: {
    kind: 'json',
    schema: Type.Object({
      credential: PasskeyAnswer,
    }),
  },
  reply: { kind: 'data', status: 200, schema: LoginSession },
  errors: ['E-AUTH-BADCRED', 'E-AUTH-FORBIDDEN'],
})

export const passkeyContracts = [
  listPasskeys,
  getPasskeyChallenge,
  addPasskey,
  renamePasskey,
  deletePasskey,
  getPasskeyLoginChallenge,
  loginWithPasskey,
]
