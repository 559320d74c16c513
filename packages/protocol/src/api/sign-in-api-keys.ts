import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IsoTime, TimestampInput } from '../schemas.ts'

const tag = 'API keys'

/** An API key without the key itself. */
export const ApiKeyView = Type.Object({
  keyId: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'The first 8 characters of the key' }),
  scope: Type.Optional(Type.String({ description: 'Comma-separated; absent = full authority' })),
  createdAt: IsoTime,
  lastUsedAt: Type.Optional(IsoTime),
  expiresAt: Type.Optional(IsoTime),
})
export type ApiKeyView = Static<typeof ApiKeyView>

export const NewApiKeyView = Type.Object({
  ...ApiKeyView.properties,
  key: Type.String({ description: 'The key itself, shown this once' }),
})
export type NewApiKeyView = Static<typeof NewApiKeyView>

const name = Type.String({ minLength: 1, maxLength: 100 })
const scope = Type.String({ minLength: 1, maxLength: 4096, examples: ['read:files,write:actions'] })
const params = Type.Object({ keyId: Type.String({ maxLength: 64, description: 'The id of an API key' }) })

const common = { tag, auth: 'personal', role: 'leader' } as const

export const listApiKeys = contract({
  ...common,
  name: 'listApiKeys',
  method: 'GET',
  path: '/api/auth/api-keys',
  summary: 'The API keys of this account, without the keys themselves',
  scope: 'admin:keys',
  reply: { kind: 'data', status: 200, schema: Type.Array(ApiKeyView) },
  errors: ['E-AUTH-FORBIDDEN'],
})

export const createApiKey = contract({
  ...common,
  name: 'createApiKey',
  method: 'POST',
  path: '/api/auth/api-keys',
  summary: 'Make an API key; it cannot have more rights than the caller’s own token',
  description: 'Needs a sign-in within the last 15 minutes.',
  body: {
    kind: 'json',
    schema: Type.Object({
      name,
      scope: Type.Optional(scope),
      expiresAt: Type.Optional(TimestampInput),
    }),
  },
  reply: { kind: 'data', status: 201, schema: NewApiKeyView },
  errors: ['E-AUTH-FORBIDDEN', 'E-STATE'],
})

export const getApiKey = contract({
  ...common,
  name: 'getApiKey',
  method: 'GET',
  path: '/api/auth/api-keys/{keyId}',
  summary: 'One API key, without the key itself',
  scope: 'admin:keys',
  params,
  reply: { kind: 'data', status: 200, schema: ApiKeyView },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND'],
})

export const updateApiKey = contract({
  ...common,
  name: 'updateApiKey',
  method: 'PATCH',
  path: '/api/auth/api-keys/{keyId}',
  summary: 'Rename an API key or change its scope, at once for every token made from it',
  description: 'To change the scope needs a sign-in within the last 15 minutes.',
  params,
  body: { kind: 'json', schema: Type.Object({ name: Type.Optional(name), scope: Type.Optional(scope) }) },
  reply: { kind: 'data', status: 200, schema: ApiKeyView },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND'],
})

export const deleteApiKey = contract({
  ...common,
  name: 'deleteApiKey',
  method: 'DELETE',
  path: '/api/auth/api-keys/{keyId}',
  summary: 'Revoke an API key and every token made from it, at once',
  scope: 'admin:keys',
  params,
  reply: { kind: 'data', status: 200, schema: Type.Literal('ok') },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND'],
})

export const apiKeyContracts = [listApiKeys, createApiKey, getApiKey, updateApiKey, deleteApiKey]
