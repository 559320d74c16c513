import Type from 'typebox'
import { contract } from '../contract.ts'
import { IdTagInput, Words } from '../schemas.ts'

const tag = 'Registration'

export const registrationTypes = ['idp', 'domain'] as const
export type RegistrationType = (typeof registrationTypes)[number]

export const nameProblems = ['E-PROFILE-EXISTS', 'E-VALIDATION', 'E-DNS', 'E-NOTFOUND', 'E-GONE'] as const
export type NameProblemCode = (typeof nameProblems)[number]

const appDomain = Type.Optional(IdTagInput)
const token = Type.Optional(
  Type.String({ maxLength: 64, description: 'refId of an invitation (`invite`) of the base tenant' }),
)

export const verifyName = contract({
  name: 'verifyName',
  method: 'POST',
  path: '/api/profiles/verify',
  tag,
  summary: 'Whether this identity can be registered on this server',
  description: [
    'Each check that fails has an entry in `errors`. `E-PROFILE-EXISTS`: the name is taken. `E-VALIDATION`: this server does not register it. `E-DNS`: its DNS does not point to this server; a TXT record that names the server does so, or an address of the name that is one of `serverAddresses`. Of a name `idp` that is not below the base tenant’s the identity provider of another server is asked.',
    '`E-NOTFOUND`, `E-GONE`: the invitation is none, or is used up or has expired; then nothing is said of the name.',
  ].join('\n\n'),
  auth: 'none',
  bucket: 'registration',
  body: {
    kind: 'json',
    schema: Type.Object({
      idTag: IdTagInput,
      type: Words([...registrationTypes, 'community']),
      appDomain,
      token,
    }),
  },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({
      available: Type.Boolean(),
      idTag: Type.String({ description: 'In its canonical form' }),
      errors: Type.Array(Words(nameProblems)),
      serverAddresses: Type.Array(Type.String()),
    }),
  },
  errors: ['E-UNAVAILABLE'],
  example: {
    body: { idTag: 'alice.example.com', type: 'domain' },
    data: {
      available: false,
      idTag: 'alice.example.com',
      errors: ['E-DNS'],
      serverAddresses: ['198.51.100.7'],
    },
  },
})

export const registerAccount = contract({
  name: 'registerAccount',
  method: 'POST',
  path: '/api/profiles/register',
  tag,
  summary: 'Make an account on this server, with an invitation or, where registration is open, without',
  description: [
    '`idp`: a name below the base tenant’s, or below that of an identity provider elsewhere, which mails a link that activates it. `domain`: a name of one’s own, whose DNS leads to this server.',
    'The account has no password yet: a link to set one is mailed. The answer’s `token` is a login token for the new tenant’s host; where addresses must be verified it is valid for the profile alone. An account that is never given a way to sign in is removed after 31 days.',
  ].join('\n\n'),
  auth: 'none',
  bucket: 'registration',
  body: {
    kind: 'json',
    schema: Type.Object({
      type: Words(registrationTypes),
      idTag: IdTagInput,
      email: Type.String({ maxLength: 320 }),
      token,
      appDomain,
      lang: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$',
          maxLength: 35,
          description: 'Language of the account and of its mails (BCP 47)',
          examples: ['de'],
        }),
      ),
    }),
  },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({
      tnId: Type.Integer(),
      idTag: Type.String(),
      name: Type.String(),
      token: Type.String(),
    }),
  },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND', 'E-GONE', 'E-PROFILE-EXISTS', 'E-STATE', 'E-UNAVAILABLE'],
  example: {
    body: {
      type: 'idp',
      idTag: 'alice.example.com',
      email: 'alice@example.org',
      token: '0123456789ABCDEFabcdefgh',
      lang: 'en',
    },
  },
})

export const registrationContracts = [verifyName, registerAccount]
