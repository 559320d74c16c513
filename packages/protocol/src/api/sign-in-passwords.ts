import Type from 'typebox'
import { contract } from '../contract.ts'
import { IdTagInput } from '../schemas.ts'

const tag = 'Sign-in'

const newPassword = Type.String({ maxLength: 4096, description: '8 to 1024 characters' })
const Done = Type.Object({ success: Type.Boolean() })
/** The language in which a mail is wished for. */
export const mailLanguage = Type.Optional(
  Type.String({ maxLength: 35, description: 'Language of the mail (BCP 47)', examples: ['de'] }),
)

export const changePassword = contract({
  name: 'changePassword',
  method: 'POST',
  path: '/api/auth/password',
  tag,
  summary: 'Change the password; every session of the account ends, the present one included',
  auth: 'personal',
  role: 'leader',
  bucket: 'sign-in',
  body: {
    kind: 'json',
    schema: Type.Object({ currentPassword: Type.String({ maxLength: 4096 }), newPassword }),
  },
  reply: { kind: 'data', status: 200, schema: Done },
  errors: ['E-AUTH-BADCRED', 'E-UNAVAILABLE'],
})

export const setPassword = contract({
  name: 'setPassword',
  method: 'POST',
  path: '/api/auth/set-password',
  tag,
  summary: 'Set the password with a reference that was mailed or printed, and end every session',
  description:
    'When a mailed reference proves the address of the account for the first time, everything made before is revoked: sessions, API keys, passkeys and references.',
  auth: 'none',
  bucket: 'recovery',
  body: {
    kind: 'json',
    schema: Type.Object({
      token: Type.String({
        maxLength: 64,
        description: 'A `password-reset`, `welcome` or `email-verify` reference of this tenant',
      }),
      password: newPassword,
      signOutEverything: Type.Optional(
        Type.Boolean({
          description:
            'Also end API keys and remove passkeys. When absent: true with a `password-reset`, false with the others',
        }),
      ),
    }),
  },
  reply: { kind: 'data', status: 200, schema: Done },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND', 'E-GONE', 'E-UNAVAILABLE'],
})

export const forgotPassword = contract({
  name: 'forgotPassword',
  method: 'POST',
  path: '/api/auth/forgot-password',
  tag,
  summary:
    'Mail a link to set a new password; the answer is the same where there is no such account, and where it is suspended',
  auth: 'none',
  whileSuspended: true,
  bucket: 'recovery',
  body: { kind: 'json', schema: Type.Object({ idTag: IdTagInput, lang: mailLanguage }) },
  reply: { kind: 'data', status: 200, schema: Type.Object({ sent: Type.Boolean() }) },
  errors: [],
})

export const passwordContracts = [changePassword, setPassword, forgotPassword]
