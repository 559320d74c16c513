import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IdTagInput, IdTagOf, IsoTime, Nullable, UnixTime, Words } from '../schemas.ts'
import { emailContracts } from './account-email.ts'
import { LoginSession } from './login-session.ts'
import { apiKeyContracts } from './sign-in-api-keys.ts'
import { PasskeyLoginChallenge, passkeyContracts } from './sign-in-passkeys.ts'
import { passwordContracts } from './sign-in-passwords.ts'
import { QrSecret, qrLoginContracts } from './sign-in-qr.ts'

const tag = 'Sign-in'

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

export const initLogin = contract({
  name: 'initLogin',
  method: 'POST',
  path: '/api/auth/login-init',
  tag,
  summary: 'Everything a sign-in page needs: a QR session and a passkey challenge',
  description:
    'With a login token `status` is `authenticated` and `login` is present; otherwise `webAuthn` is present, and `qrLogin` unless there are too many QR sessions now.',
  auth: 'optional',
  guests: true,
  bucket: 'login-init',
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({
      status: Words(['authenticated', 'unauthenticated']),
      login: Type.Optional(LoginSession),
      qrLogin: Type.Optional(QrSecret),
      webAuthn: Type.Optional(PasskeyLoginChallenge),
    }),
  },
  errors: ['E-AUTH-FORBIDDEN'],
})

export const logout = contract({
  name: 'logout',
  method: 'POST',
  path: '/api/auth/logout',
  tag,
  summary: 'End the session of the presented token, at once and on every node',
  description: 'Takes the cookie of a browser session away as well.',
  auth: 'required',
  unscoped: 'strictly',
  browserCookie: 'set',
  reply: { kind: 'data', status: 200, schema: Type.Literal('ok') },
  errors: [],
})

export const refreshLogin = contract({
  name: 'refreshLogin',
  method: 'GET',
  path: '/api/auth/login-token',
  tag,
  summary: 'Exchange a login token for a fresh one of the same session',
  description:
    'Without a bearer the cookie of a browser session takes its place (docs/protocol/sign-in.md, Browser sessions): the request carries `X-Kith-Browser: 1` and comes from a page of the same origin.',
  auth: 'optional',
  unscoped: true,
  browserCookie: 'used',
  reply: { kind: 'data', status: 200, schema: LoginSession },
  errors: [],
})

export const startBrowserSession = contract({
  name: 'startBrowserSession',
  method: 'POST',
  path: '/api/auth/browser-session',
  tag,
  summary: 'Let this browser have further login tokens of the session, by a cookie',
  description:
    'For a login token. The cookie is good for `GET /api/auth/login-token` and nothing else. It replaces the one that the session has.',
  auth: 'personal',
  browserCookie: 'set',
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ expiresAt: UnixTime }),
  },
  errors: ['E-AUTH-FORBIDDEN'],
})

export const endBrowserSession = contract({
  name: 'endBrowserSession',
  method: 'DELETE',
  path: '/api/auth/browser-session',
  tag,
  summary: 'Take the cookie of the session away; the session goes on',
  description: 'A later use of a cookie that the session had is that of a copy, and ends the session.',
  auth: 'personal',
  browserCookie: 'set',
  reply: { kind: 'data', status: 200, schema: Type.Literal('ok') },
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

const CredentialToExchange = Type.Object({
  token: Type.Optional(
    Type.String({
      maxLength: 8192,
      description: 'A proxy token for this tenant, or a login or access token of it',
    }),
  ),
  apiKey: Type.Optional(Type.String({ maxLength: 128, description: 'An API key of the owner' })),
  ref: Type.Optional(Type.String({ maxLength: 64, description: 'The `refId` of a `share.file` reference' })),
  refresh: Type.Optional(
    Type.Boolean({ description: 'With `ref`: renew the bearer’s token, and use up no count' }),
  ),
  scope: Type.Optional(
    Type.String({
      maxLength: 4096,
      description: 'What the token is to be narrowed to; the rights of the credential when absent',
      examples: ['read:files,write:files'],
    }),
  ),
  app: Type.Optional(
    Type.String({
      pattern: '^@[^/]+/.+$',
      maxLength: 400,
      description:
        'An installed app that is to be given what the token allows, as `@{publisher}/{name}`: the token also ends when it is uninstalled. For the tenant’s owner, with a `scope` of single files alone',
      examples: ['@alice.example.com/Notes'],
    }),
  ),
})

export const getAccessToken = contract({
  name: 'getAccessToken',
  method: 'GET',
  path: '/api/auth/access-token',
  tag,
  summary: 'Exchange a credential for a narrower token',
  description:
    'The first that applies is used: `apiKey`; `ref` or `refId`; `token`; the bearer. A scope can only narrow what the credential has. 404 `E-NOTFOUND`: the `app` is not installed, or the reference unknown.',
  auth: 'optional',
  guests: true,
  bucket: 'reference',
  query: CredentialToExchange,
  queryAliases: { refId: 'ref' },
  reply: { kind: 'data', status: 200, schema: AccessGrant },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND', 'E-FILE-NOTFOUND', 'E-GONE'],
})

/** The same with the credential in the body: addresses stand in the logs of proxies. */
export const exchangeCredential = contract({
  name: 'exchangeCredential',
  method: 'POST',
  path: '/api/auth/access-token',
  tag,
  summary: 'Exchange a credential that no log is to see for a narrower token',
  description: 'As `getAccessToken`, with what stands in the query there in the body.',
  auth: 'optional',
  guests: true,
  bucket: 'reference',
  body: { kind: 'json', schema: CredentialToExchange },
  reply: { kind: 'data', status: 200, schema: AccessGrant },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND', 'E-FILE-NOTFOUND', 'E-GONE'],
})

export const getProxyToken = contract({
  name: 'getProxyToken',
  method: 'GET',
  path: '/api/auth/proxy-token',
  tag,
  summary: 'A token that proves this identity to another tenant',
  auth: 'required',
  unscoped: 'strictly',
  query: Type.Object({ target: IdTagOf('On whose host the token is to be used') }),
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({
      token: Type.String(),
      expiresAt: UnixTime,
      serverUrl: Type.String({ description: 'Where the API of the target is' }),
    }),
  },
  errors: ['E-PROFILE-NOTFOUND', 'E-UNAVAILABLE'],
})

export const logOutVisitor = contract({
  name: 'logOutVisitor',
  method: 'POST',
  path: '/api/auth/visitor-logout',
  tag,
  summary: 'End what an identity has been given here for its proxy tokens',
  description:
    'For the server of the identity, with a logout token that the identity signs (docs/protocol/proxy-tokens.md, Logout). Answered alike whether or not there was anything to end.',
  auth: 'none',
  bucket: 'inbox',
  body: { kind: 'jwt' },
  reply: { kind: 'data', status: 200, schema: Type.Literal('ok') },
  errors: ['E-AUTH-UNAUTH', 'E-UNAVAILABLE'],
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
  auth: 'personal',
  params: Type.Object({ sid: Type.String({ maxLength: 64, description: 'The id of a session' }) }),
  reply: { kind: 'data', status: 200, schema: Type.Literal('ok') },
  errors: ['E-NOTFOUND'],
})

export const signInContracts = [
  login,
  initLogin,
  logout,
  refreshLogin,
  startBrowserSession,
  endBrowserSession,
  getAccessToken,
  exchangeCredential,
  getProxyToken,
  logOutVisitor,
  listSessions,
  revokeSession,
  ...passwordContracts,
  ...emailContracts,
  ...qrLoginContracts,
  ...passkeyContracts,
  ...apiKeyContracts,
]
