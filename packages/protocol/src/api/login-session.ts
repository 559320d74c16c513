import Type, { type Static } from 'typebox'
import { UnixTime } from '../schemas.ts'
import { AccountEmail } from './account-email.ts'

/** What every way of signing in answers (docs/protocol/sign-in.md). */
export const LoginSession = Type.Object({
  tnId: Type.Integer(),
  idTag: Type.String(),
  name: Type.String(),
  token: Type.String({ description: 'Bearer of the session, full authority' }),
  expiresAt: UnixTime,
  roles: Type.Array(Type.String()),
  profilePic: Type.Optional(Type.String()),
  settings: Type.Array(Type.Tuple([Type.String(), Type.String()])),
  email: Type.Optional(AccountEmail),
  swEncryptionKey: Type.Optional(Type.String({ description: '32 bytes, base64url' })),
})
export type LoginSession = Static<typeof LoginSession>
