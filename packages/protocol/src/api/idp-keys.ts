import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IdTagInput, Nullable, pageQuery, TimestampInput, UnixTime } from '../schemas.ts'

/** A key of a managed identity, without its secret (docs/protocol/identity-provider.md). */
export const IdentityKeyView = Type.Object({
  id: Type.Integer(),
  idTag: Type.String(),
  keyPrefix: Type.String({ description: 'The first 8 characters of the key' }),
  name: Type.Optional(Type.String()),
  createdAt: UnixTime,
  lastUsedAt: Nullable(UnixTime),
  expiresAt: Type.Optional(UnixTime),
})
export type IdentityKeyView = Static<typeof IdentityKeyView>

export const NewIdentityKeyView = Type.Object({
  apiKey: IdentityKeyView,
  plaintextKey: Type.String({ description: 'The key itself, shown this once' }),
})
export type NewIdentityKeyView = Static<typeof NewIdentityKeyView>

const common = {
  tag: 'Identity provider',
  feature: 'idp',
  auth: 'required',
  scope: 'read:idp',
} as const

const ofIdentity = Type.Optional(IdTagInput)
const params = Type.Object({
  id: Type.String({ maxLength: 64, description: 'The id of a key', examples: ['1'] }),
})

export const createIdentityKey = contract({
  ...common,
  name: 'createIdentityKey',
  method: 'POST',
  path: '/api/idp/api-keys',
  summary: 'Make a key of a managed identity: of `idTag`, or of the caller',
  scope: 'admin:idp',
  body: {
    kind: 'json',
    optional: true,
    schema: Type.Object({
      idTag: ofIdentity,
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      expiresAt: Type.Optional(TimestampInput),
    }),
  },
  reply: { kind: 'data', status: 201, schema: NewIdentityKeyView },
  errors: ['E-AUTH-FORBIDDEN', 'E-STATE'],
})

export const listIdentityKeys = contract({
  ...common,
  name: 'listIdentityKeys',
  method: 'GET',
  path: '/api/idp/api-keys',
  summary: 'The keys of the identities that the caller may change, without the keys themselves',
  query: Type.Object({ limit: pageQuery.limit, offset: pageQuery.offset, idTag: ofIdentity }),
  reply: { kind: 'list', status: 200, schema: IdentityKeyView },
  errors: [],
})

export const getIdentityKey = contract({
  ...common,
  name: 'getIdentityKey',
  method: 'GET',
  path: '/api/idp/api-keys/{id}',
  summary: 'One key, without the key itself',
  params,
  reply: { kind: 'data', status: 200, schema: IdentityKeyView },
  errors: [],
})

export const deleteIdentityKey = contract({
  ...common,
  name: 'deleteIdentityKey',
  method: 'DELETE',
  path: '/api/idp/api-keys/{id}',
  summary: 'End a key, at once',
  scope: 'admin:idp',
  params,
  query: Type.Object({ idTag: ofIdentity }),
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ deleted: Type.Literal(true), id: Type.Integer() }),
  },
  errors: [],
})

export const identityKeyContracts = [createIdentityKey, listIdentityKeys, getIdentityKey, deleteIdentityKey]
