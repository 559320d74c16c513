import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IdTagInput, IsoTime, Nullable, UnixTime } from '../schemas.ts'

const tag = 'Sign-in'

/** SPEC "Login session (tenant)". */
export const LoginSession = Type.Object({
  tnId: Type.Integer(),
  idTag: Type.String(),
  name: Type.String(),
  token: Type.String({ description: 'Bearer of the session, full authority' }),
  expiresAt: UnixTime,
  roles: Type.Array(Type.String()),
  profilePic: Type.Optional(Type.String()),
  settings: Type.Array(Type.Tuple([Type.String(), Type.String()])),
  swEncryptionKey: Type.Optional(Type.String({ description: '32 bytes, base64url' })),
})
export type LoginSession = Static<typeof LoginSession>

export const login = contract({
  name: 'login',
  method: 'POST',
  path: '/api/auth/login',
  tag,
  summary: 'Sign in with a password',
  auth: 'none',
  bucket: 'sign-in',
  body: {
    kind: 'json',
    schema: Type.Object({ idTag: IdTagInput, password: Type.String({ maxLength: 4096 }) }),
  },
  reply: { kind: 'data', status: 200, schema: LoginSession },
  errors: ['E-AUTH-BADCRED', 'E-AUTH-NOTVERIFIED', 'E-UNAVAILABLE'],
  example: { body: { idTag: 'alice.example.com', password: 'correct horse battery' } },
})

export const logout = contract({
  name: 'logout',
  method: 'POST',
  path: '/api/auth/logout',
  tag,
  summary: 'End the session of the presented token, at once and on every node',
  auth: 'required',
  reply: { kind: 'data', status: 200, schema: Type.Literal('ok') },
  errors: [],
})

export const refreshLogin = contract({
  name: 'refreshLogin',
  method: 'GET',
  path: '/api/auth/login-token',
  tag,
  summary: 'Exchange a login token for a fresh one of the same session',
  auth: 'required',
  unscoped: true,
  reply: { kind: 'data', status: 200, schema: LoginSession },
  errors: [],
})

export const AccessGrant = Type.Object({
  token: Type.String(),
  expiresAt: UnixTime,
  scope: Type.Optional(Type.String()),
  accessLevel: Type.Optional(Type.Union([Type.Literal('read'), Type.Literal('write')])),
  resourceId: Type.Optional(Type.String()),
})
export type AccessGrant = Static<typeof AccessGrant>

export const getAccessToken = contract({
  name: 'getAccessToken',
  method: 'GET',
  path: '/api/auth/access-token',
  tag,
  summary: 'Exchange a credential for a narrower token',
  description:
    'The first that applies is used: `apiKey`; `ref` or `refId`; `token`; the bearer. A scope can only narrow what the credential has.',
  auth: 'optional',
  guests: true,
  bucket: 'reference',
  query: Type.Object({
    token: Type.Optional(Type.String({ maxLength: 8192 })),
    apiKey: Type.Optional(Type.String({ maxLength: 128 })),
    ref: Type.Optional(Type.String({ maxLength: 64 })),
    refresh: Type.Optional(Type.Boolean()),
    scope: Type.Optional(Type.String({ maxLength: 4096, examples: ['read:files,write:files'] })),
  }),
  queryAliases: { refId: 'ref' },
  reply: { kind: 'data', status: 200, schema: AccessGrant },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND', 'E-GONE'],
})

export const getProxyToken = contract({
  name: 'getProxyToken',
  method: 'GET',
  path: '/api/auth/proxy-token',
  tag,
  summary: 'A token that proves this identity to another tenant',
  auth: 'required',
  unscoped: true,
  query: Type.Object({ target: IdTagInput }),
  reply: { kind: 'data', status: 200, schema: Type.Object({ token: Type.String(), expiresAt: UnixTime }) },
  errors: ['E-PROFILE-NOTFOUND', 'E-UNAVAILABLE'],
})

export const SessionView = Type.Object({
  sid: Type.String(),
  current: Type.Boolean({ description: 'The session of the presented token' }),
  method: Type.String({ description: 'How the person signed in: `password`, `passkey`, `qr`, …' }),
  createdAt: IsoTime,
  lastUsedAt: IsoTime,
  expiresAt: IsoTime,
  ipAddress: Type.String(),
  userAgent: Nullable(Type.String()),
})
export type SessionView = Static<typeof SessionView>

export const listSessions = contract({
  name: 'listSessions',
  method: 'GET',
  path: '/api/auth/sessions',
  tag,
  summary: 'The live sessions of this account',
  auth: 'required',
  unscoped: true,
  reply: { kind: 'data', status: 200, schema: Type.Array(SessionView) },
  errors: [],
})

export const revokeSession = contract({
  name: 'revokeSession',
  method: 'DELETE',
  path: '/api/auth/sessions/{sid}',
  tag,
  summary: 'End one of this account’s sessions',
  auth: 'required',
  unscoped: true,
  params: Type.Object({ sid: Type.String({ maxLength: 64 }) }),
  reply: { kind: 'data', status: 200, schema: Type.Literal('ok') },
  errors: ['E-NOTFOUND'],
})

export const setPassword = contract({
  name: 'setPassword',
  method: 'POST',
  path: '/api/auth/set-password',
  tag,
  summary: 'Set the password with a reference that was mailed or printed, and end every session',
  auth: 'none',
  bucket: 'recovery',
  body: {
    kind: 'json',
    schema: Type.Object({
      token: Type.String({
        maxLength: 64,
        description: 'A `password-reset`, `welcome` or `email-verify` reference of this tenant',
      }),
      password: Type.String({ maxLength: 4096, description: '8 to 1024 characters' }),
    }),
  },
  reply: { kind: 'data', status: 200, schema: Type.Object({ success: Type.Boolean() }) },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND', 'E-GONE', 'E-UNAVAILABLE'],
})

export const signInContracts = [
  login,
  logout,
  refreshLogin,
  getAccessToken,
  getProxyToken,
  listSessions,
  revokeSession,
  setPassword,
]
