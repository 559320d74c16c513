import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IsoTime, Nullable, Words } from '../schemas.ts'
import { LoginSession } from './login-session.ts'
import { PasskeyAnswer } from './sign-in-passkeys.ts'

const tag = 'Sign-in'

export const qrStatuses = ['pending', 'approved', 'denied', 'expired'] as const
export type QrStatus = (typeof qrStatuses)[number]

/** What the asking device keeps: the session id is shown as a QR code, the secret is not. */
export const QrSecret = Type.Object({
  sessionId: Type.String(),
  secret: Type.String({ description: 'For the header `x-qr-secret`' }),
  code: Type.String({ description: 'Six digits, which both devices show' }),
})
export type QrSecret = Static<typeof QrSecret>

const sessionParams = Type.Object({
  sessionId: Type.String({ maxLength: 64, description: 'The id of a QR session' }),
})

export const initQrLogin = contract({
  name: 'initQrLogin',
  method: 'POST',
  path: '/api/auth/qr-login/init',
  tag,
  summary: 'Begin to sign in with a device that is signed in already; valid for 300 s',
  auth: 'none',
  bucket: 'qr',
  reply: { kind: 'data', status: 200, schema: QrSecret },
  errors: ['E-AUTH-FORBIDDEN'],
})

export const getQrLoginStatus = contract({
  name: 'getQrLoginStatus',
  method: 'GET',
  path: '/api/auth/qr-login/{sessionId}/status',
  tag,
  summary: 'Wait for the answer; `login` is handed out once',
  auth: 'none',
  params: sessionParams,
  query: Type.Object({
    timeout: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 30, default: 15, description: 'Seconds to wait for a change' }),
    ),
  }),
  headers: Type.Object({
    'x-qr-secret': Type.Optional(
      Type.String({ maxLength: 128, description: 'Required: the `secret` of the session' }),
    ),
  }),
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ status: Words(qrStatuses), login: Type.Optional(LoginSession) }),
  },
  errors: ['E-AUTH-UNAUTH', 'E-AUTH-FORBIDDEN', 'E-NOTFOUND'],
})

export const getQrLoginDetails = contract({
  name: 'getQrLoginDetails',
  method: 'GET',
  path: '/api/auth/qr-login/{sessionId}/details',
  tag,
  summary: 'The device that asks to be signed in, to be checked before answering',
  auth: 'personal',
  role: 'leader',
  params: sessionParams,
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({
      sessionId: Type.String(),
      idTag: Type.String({ description: 'The tenant that would be signed in to' }),
      name: Type.String(),
      code: Type.String({ description: 'Six digits, which the asking device shows as well' }),
      ipAddress: Type.String({ description: 'Of the asking device' }),
      userAgent: Nullable(Type.String()),
      createdAt: IsoTime,
    }),
  },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND'],
})

export const answerQrLogin = contract({
  name: 'answerQrLogin',
  method: 'POST',
  path: '/api/auth/qr-login/{sessionId}/respond',
  tag,
  summary: 'Sign the asking device in, or refuse; once',
  description:
    'To sign it in, the sign-in must be at most 15 minutes old, or the person proves that they are there: with `password`, or with `credential`, the answer of a passkey to a challenge of `GET /api/auth/wa/login/challenge`. Otherwise it is 403 with the reason `sign-in-again`.',
  auth: 'personal',
  role: 'leader',
  params: sessionParams,
  bucket: 'sign-in',
  body: {
    kind: 'json',
    schema: Type.Object({
      approved: Type.Boolean(),
      password: Type.Optional(
        Type.String({ maxLength: 4096, description: 'The present password, where the sign-in is older' }),
      ),
      credential: Type.Optional(PasskeyAnswer),
    }),
  },
  reply: { kind: 'data', status: 200, schema: Type.Object({ status: Words(qrStatuses) }) },
  errors: ['E-AUTH-BADCRED', 'E-AUTH-FORBIDDEN', 'E-NOTFOUND', 'E-STATE'],
})

export const qrLoginContracts = [initQrLogin, getQrLoginStatus, getQrLoginDetails, answerQrLogin]
