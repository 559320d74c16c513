import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IdTagInput, IdTagOf, IsoTime, Nullable, pageQuery, UnixTime, Words } from '../schemas.ts'

const tag = 'Identity provider'

export const managedStatuses = ['pending', 'active', 'suspended'] as const
export type ManagedStatus = (typeof managedStatuses)[number]

/** An identity that a provider registered (docs/protocol/identity-provider.md). */
export const ManagedIdentityView = Type.Object({
  idTag: Type.String(),
  email: Type.Optional(Type.String()),
  registrarIdTag: Type.String(),
  ownerIdTag: Nullable(Type.String()),
  address: Type.Optional(Type.String({ description: 'IP address or host name of the server' })),
  addressUpdatedAt: Type.Optional(UnixTime),
  status: Words(managedStatuses),
  createdAt: UnixTime,
  updatedAt: UnixTime,
  expiresAt: Type.Optional(UnixTime),
  lastLoginAt: Type.Optional(IsoTime),
  dyndns: Type.Boolean(),
})
export type ManagedIdentityView = Static<typeof ManagedIdentityView>

export const NewManagedIdentityView = Type.Object({
  ...ManagedIdentityView.properties,
  apiKey: Type.Optional(Type.String({ description: 'The requested key; it is not shown again' })),
})
export type NewManagedIdentityView = Static<typeof NewManagedIdentityView>

export const ProviderInfo = Type.Object({
  domain: Type.String({ description: 'Names are registered below this domain' }),
  name: Type.String(),
  info: Type.String(),
  url: Type.Optional(Type.String()),
})
export type ProviderInfo = Static<typeof ProviderInfo>

/** Path parameter: a managed identity by its idTag or by the first label of it. */
const id = Type.String({
  maxLength: 1024,
  description: 'The identity, or its first label',
  examples: ['alice'],
})
const address = Type.String({ maxLength: 253, examples: ['198.51.100.7'] })

const common = { tag, feature: 'idp' } as const
const ofCallers = { ...common, auth: 'required', scope: 'write:idp' } as const

export const getProviderInfo = contract({
  ...common,
  name: 'getProviderInfo',
  method: 'GET',
  path: '/api/idp/info',
  summary: 'The domain below which this provider registers names',
  description: 'Everything under `/api/idp` answers 404 where the tenant is no provider (`idp.enabled`).',
  auth: 'none',
  reply: { kind: 'data', status: 200, schema: ProviderInfo },
  errors: [],
})

export const checkAvailability = contract({
  ...common,
  name: 'checkAvailability',
  method: 'GET',
  path: '/api/idp/check-availability',
  summary: 'Whether this name can be registered',
  description:
    'False for names that are taken, reserved, or released less than 30 days ago; a name outside of the provider’s domain is 400. The provider’s owner may register a released name at once.',
  auth: 'optional',
  guests: true,
  bucket: 'idp',
  query: Type.Object({ idTag: IdTagOf('The name that is wanted') }),
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ available: Type.Boolean(), idTag: Type.String() }),
  },
  errors: [],
})

export const activateIdentity = contract({
  ...common,
  name: 'activateIdentity',
  method: 'POST',
  path: '/api/idp/activate',
  summary: 'Activate a name for its owner, with the reference that was mailed',
  description:
    'After that its registrar can only read it, without the e-mail address. Keys that were made before are revoked.',
  auth: 'none',
  bucket: 'idp',
  body: {
    kind: 'json',
    schema: Type.Object({
      refId: Type.String({ maxLength: 64 }),
      keepKeys: Type.Optional(
        Type.Boolean({ description: 'Keep the keys that were made while it was pending; false when absent' }),
      ),
    }),
  },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({
      idTag: Type.String(),
      status: Words(managedStatuses),
      address: Nullable(Type.String()),
    }),
  },
  errors: ['E-GONE'],
  example: { body: { refId: '0123456789ABCDEFabcdefgh' } },
})

export const listManagedIdentities = contract({
  ...ofCallers,
  name: 'listManagedIdentities',
  method: 'GET',
  path: '/api/idp/identities',
  summary: 'The names that the caller registered or owns; for the provider’s owner all of them',
  description: 'Pages are by offset unless `cursor` is given; an empty `cursor` asks for the first page.',
  scope: 'read:idp',
  query: Type.Object({
    ...pageQuery,
    email: Type.Optional(Type.String({ maxLength: 320, description: 'Part of the address' })),
    registrarIdTag: Type.Optional(IdTagOf('Who registered them')),
    ownerIdTag: Type.Optional(IdTagOf('Whose they are')),
    status: Type.Optional(Words(managedStatuses, { description: 'Those in this status alone' })),
    q: Type.Optional(Type.String({ maxLength: 320, description: 'Part of the name or of the address' })),
  }),
  reply: { kind: 'list', status: 200, schema: ManagedIdentityView },
  errors: [],
})

export const createManagedIdentity = contract({
  ...ofCallers,
  name: 'createManagedIdentity',
  method: 'POST',
  path: '/api/idp/identities',
  summary: 'Register a name; the caller becomes its registrar',
  description: [
    'It is `pending` until its owner activates it: with the reference that is mailed to `email` or, where there is none, that `ownerIdTag` finds in `GET /api/refs`. A reference is valid for 24 hours, a pending name for seven days.',
    'A key of the identity (`createApiKey`) is for the machine that has the name: as a bearer it can read the identity and set its address, nothing else. Asking for one takes `admin:idp`, and no API key may.',
  ].join('\n\n'),
  bucket: 'idp',
  body: {
    kind: 'json',
    schema: Type.Object({
      idTag: IdTagInput,
      email: Type.Optional(Type.String({ maxLength: 320, description: 'Needed without `ownerIdTag`' })),
      ownerIdTag: Type.Optional(IdTagInput),
      address: Type.Optional(address),
      createApiKey: Type.Optional(Type.Boolean()),
      apiKeyName: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      lang: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$',
          maxLength: 35,
          description: 'Language of the mail (BCP 47)',
          examples: ['de'],
        }),
      ),
    }),
  },
  reply: { kind: 'data', status: 201, schema: NewManagedIdentityView },
  errors: ['E-AUTH-FORBIDDEN', 'E-PROFILE-EXISTS'],
  example: { body: { idTag: 'alice.example.com', email: 'alice@example.org', address: '198.51.100.7' } },
})

export const getManagedIdentity = contract({
  ...ofCallers,
  name: 'getManagedIdentity',
  method: 'GET',
  path: '/api/idp/identities/{id}',
  summary: 'One name, for its owner, its registrar and the provider’s owner',
  scope: 'read:idp',
  identityKeys: true,
  params: Type.Object({ id }),
  reply: { kind: 'data', status: 200, schema: ManagedIdentityView },
  errors: [],
})

export const updateManagedIdentity = contract({
  ...ofCallers,
  name: 'updateManagedIdentity',
  method: 'PATCH',
  path: '/api/idp/identities/{id}',
  summary:
    'Declare that the address changes often; for the provider’s owner: suspend a name, or end its suspension',
  params: Type.Object({ id }),
  body: {
    kind: 'json',
    schema: Type.Object({
      dyndns: Type.Optional(Type.Boolean()),
      status: Type.Optional(Words(['active', 'suspended'])),
    }),
  },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ idTag: Type.String(), dyndns: Type.Boolean(), status: Words(managedStatuses) }),
  },
  errors: ['E-AUTH-FORBIDDEN', 'E-STATE'],
})

export const setIdentityAddress = contract({
  ...ofCallers,
  name: 'setIdentityAddress',
  method: 'PUT',
  path: '/api/idp/identities/{id}/address',
  summary: 'Set the address of an identity’s server',
  identityKeys: true,
  params: Type.Object({ id }),
  body: {
    kind: 'json',
    schema: Type.Object({
      address: Type.Optional(address),
      autoAddress: Type.Optional(
        Type.Boolean({ description: 'Without `address`: the address from which this request comes' }),
      ),
    }),
  },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({
      idTag: Type.String(),
      address: Type.String(),
      addressUpdatedAt: UnixTime,
      status: Words(managedStatuses),
    }),
  },
  errors: ['E-AUTH-FORBIDDEN', 'E-STATE'],
})

export const deleteManagedIdentity = contract({
  ...ofCallers,
  name: 'deleteManagedIdentity',
  method: 'DELETE',
  path: '/api/idp/identities/{id}',
  summary: 'Release a name for good',
  description:
    'For 30 days only the provider’s owner can register it, and the registrar of a name that was pending. A second DELETE by the provider’s owner frees it at once.',
  params: Type.Object({ id }),
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ deleted: Type.Literal(true), idTag: Type.String() }),
  },
  errors: ['E-AUTH-FORBIDDEN', 'E-STATE'],
})

export const idpContracts = [
  getProviderInfo,
  checkAvailability,
  activateIdentity,
  listManagedIdentities,
  createManagedIdentity,
  getManagedIdentity,
  updateManagedIdentity,
  setIdentityAddress,
  deleteManagedIdentity,
]
