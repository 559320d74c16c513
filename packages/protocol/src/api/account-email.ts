import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { Nullable, UnixTime } from '../schemas.ts'
import { mailLanguage } from './sign-in-passwords.ts'

const tag = 'Sign-in'

/** The e-mail address of an account, as its owner sees it (docs/protocol/sign-in.md, The address of an account). */
export const AccountEmail = Type.Object({
  address: Nullable(Type.String({ description: 'Where mails about the account go; null: nowhere' })),
  verified: Type.Boolean({ description: 'Whether mail that was sent there has been read' }),
  pending: Type.Optional(
    Type.Object(
      { address: Type.String(), expiresAt: UnixTime },
      { description: 'The address that was asked for and is not confirmed yet' },
    ),
  ),
})
export type AccountEmail = Static<typeof AccountEmail>

export const getEmail = contract({
  name: 'getEmail',
  method: 'GET',
  path: '/api/auth/email',
  tag,
  summary: 'The e-mail address of the account, and the one that waits to be confirmed',
  auth: 'personal',
  role: 'leader',
  reply: { kind: 'data', status: 200, schema: AccountEmail },
  errors: [],
  example: { data: { address: 'alice@example.org', verified: true } },
})

export const changeEmail = contract({
  name: 'changeEmail',
  method: 'PUT',
  path: '/api/auth/email',
  tag,
  summary: 'Ask for another e-mail address: a link is mailed there, and a notice to the present one',
  description:
    'The address counts once it is confirmed with the link, which works once and for 24 hours. A later request takes the place of an earlier one; one for the address that counts already takes an earlier one back. Without `password` the sign-in must be at most 15 minutes old. Three requests an hour and five a day for each account; a mailbox gets three links in eight hours.',
  auth: 'personal',
  role: 'leader',
  bucket: 'sign-in',
  body: {
    kind: 'json',
    schema: Type.Object({
      email: Type.String({ maxLength: 1024, description: '`local@domain`, at most 254 characters' }),
      password: Type.Optional(
        Type.String({ maxLength: 4096, description: 'The present password, where the sign-in is older' }),
      ),
      lang: mailLanguage,
    }),
  },
  reply: { kind: 'data', status: 200, schema: AccountEmail },
  errors: ['E-AUTH-BADCRED', 'E-AUTH-FORBIDDEN', 'E-UNAVAILABLE'],
  example: { body: { email: 'alice@example.org' } },
})

export const confirmEmail = contract({
  name: 'confirmEmail',
  method: 'POST',
  path: '/api/auth/email/confirm',
  tag,
  summary: 'Confirm the address to which the token was mailed: it counts from now on',
  description:
    'References that could set the password end, for they went to the former address. Where the account was registered with an address that nobody has proven, everything made before is revoked: sessions, API keys, passkeys and references.',
  auth: 'none',
  bucket: 'recovery',
  body: {
    kind: 'json',
    schema: Type.Object({ token: Type.String({ maxLength: 64, description: 'From the link in the mail' }) }),
  },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({
      email: Type.String(),
      signedOut: Type.Boolean({ description: 'Whether everything made before was revoked' }),
    }),
  },
  errors: ['E-NOTFOUND', 'E-GONE'],
})

export const emailContracts = [getEmail, changeEmail, confirmEmail]
