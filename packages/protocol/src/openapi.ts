import type { TObject, TSchema } from 'typebox'
import { schemaNames } from './api/schema-names.ts'
import type { Contract } from './contract.ts'
import { decodeKeyword } from './decoding.ts'
import { gatewayPath } from './gateway.ts'
import {
  answerHeaders,
  failureResponses,
  type Json,
  plainSchema,
  requestBody,
  successOf,
} from './openapi-content.ts'
import { SchemaNames } from './openapi-names.ts'

/** What the document says of the server that the contracts do not. */
interface OpenApiOptions {
  readonly title: string
  readonly version: string
  readonly serverUrl: string
}

const preface = [
  'What shapes cannot say is in `docs/protocol` of the repository: what statuses mean and what changes them, who may read what, credentials, limits, and what servers tell each other.',
  'Unknown members and parameters are ignored. Timestamps are taken as ISO 8601 with a zone or as Unix seconds. What the caller may not know of is answered like what does not exist: 404.',
].join('\n\n')

/** The OpenAPI 3.1 document of the contracts, as plain JSON. */
export function openApiDocument(contracts: readonly Contract[], options: OpenApiOptions): Json {
  const names = new SchemaNames({ ...schemaNames, ...requestNames(contracts) })
  const paths: Record<string, Record<string, Json>> = {}
  for (const contract of contracts) {
    const path = contract.path.replace('*}', '}')
    paths[path] = { ...paths[path], [contract.method.toLowerCase()]: operation(contract) }
  }
  return {
    openapi: '3.1.0',
    info: { title: options.title, version: options.version, description: preface },
    servers: [{ url: options.serverUrl }],
    tags: [...new Set(contracts.map((contract) => contract.tag))].map((name) => ({ name })),
    paths: names.refer(paths),
    components: { schemas: names.definitions(), headers: answerHeaders, securitySchemes },
  }
}

/** `CreateShareRequest` for the body of `createShare`, where no other name stands for it. */
function requestNames(contracts: readonly Contract[]): Record<string, TSchema> {
  const own = new Set(Object.values(schemaNames))
  const bodies = contracts.flatMap(({ name, body }) =>
    body?.kind === 'json' && isObject(body.schema) && !own.has(body.schema)
      ? [[`${name.charAt(0).toUpperCase()}${name.slice(1)}Request`, body.schema] as const]
      : [],
  )
  return Object.fromEntries(bodies)
}

function isObject(schema: TSchema): boolean {
  return 'properties' in schema
}

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A login, access, proxy or reference token, or an API key',
  },
  queryToken: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'The bearer, where no header can be set',
  },
  browserCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-kith',
    description: 'A browser session; with `X-Kith-Browser: 1`, and from a page of the same origin',
  },
}

function operation(contract: Contract): Json {
  const description = descriptionOf(contract)
  const parameters = [
    ...parametersOf('path', contract.params, contract.example?.params),
    ...parametersOf('query', contract.query, contract.example?.query),
    ...parametersOf('header', contract.headers),
  ]
  return {
    operationId: contract.name,
    tags: [contract.tag],
    summary: contract.summary,
    ...(description === '' ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(contract.body ? { requestBody: requestBody(contract.body, contract.example?.body) } : {}),
    security: securityOf(contract),
    responses: { ...successOf(contract.reply, contract.example?.data), ...failureResponses(contract) },
  }
}

function descriptionOf(contract: Contract): string {
  const { auth, scope, unscoped, role, orAdmin, guests, gateway, aliases, queryAliases } = contract
  const others = Object.entries(queryAliases ?? {}).map(([alias, name]) => `\`${alias}\` for \`${name}\``)
  const sentences = [
    contract.description,
    scope && `A narrowed token needs the scope \`${scope}\`.`,
    auth === 'personal' && 'For the owner in person: an API key, or a token made from one, will not do.',
    needsNoScope(contract) && 'Needs a token without scope.',
    unscoped === true && 'Needs a token without scope, or with `admin`.',
    role === 'SADM' && 'Needs the role `SADM` on the base tenant’s host.',
    role && role !== 'SADM' && `Needs the role \`${role}\` or a higher one.`,
    orAdmin && 'The role `SADM` does as well, on the base tenant’s host.',
    guests && 'Reference guests may call it.',
    gateway && `Also of other identities, through the gateway: \`${gatewayPath(contract.path, '{idTag}')}\`.`,
    aliases && `Also at ${aliases.map((path) => `\`${path}\``).join(', ')}.`,
    others.length > 0 && `Query parameters have other names too: ${others.join(', ')}.`,
  ]
  return sentences.filter(Boolean).join('\n\n')
}

function needsNoScope({ auth, scope, unscoped }: Contract): boolean {
  return unscoped === 'strictly' || (auth === 'personal' && !scope && !unscoped)
}

function securityOf(contract: Contract): Json[] {
  const byToken = [{ bearer: [] }, ...(contract.queryToken ? [{ queryToken: [] }] : [])]
  if (contract.auth === 'none') return []
  // Without either the answer is 401, though the contract lets requests without a bearer in.
  if (contract.browserCookie === 'used') return [...byToken, { browserCookie: [] }]
  return contract.auth === 'optional' ? [{}, ...byToken] : byToken
}

function parametersOf(
  place: 'path' | 'query' | 'header',
  schemas: TObject | undefined,
  examples: object = {},
) {
  const requiredNames: readonly string[] = schemas?.required ?? []
  return Object.entries<TSchema>(schemas?.properties ?? {}).map(([name, schema]) => {
    const { description, ...rest } = plainSchema(schema)
    const example = (examples as Record<string, unknown>)[name]
    return {
      name,
      in: place,
      required: place === 'path' || requiredNames.includes(name),
      ...(description === undefined ? {} : { description }),
      ...(place === 'query' && isCommaList(schema)
        ? { style: 'form', explode: false, schema: listSchema(schema) }
        : { schema: rest }),
      ...(example === undefined ? {} : { example }),
    }
  })
}

function isCommaList(schema: TSchema): boolean {
  return (schema as { [decodeKeyword]?: unknown })[decodeKeyword] === 'commaList'
}

function listSchema(schema: TSchema): Json {
  const words = (schema as { 'x-words'?: readonly string[] })['x-words']
  return { type: 'array', items: { type: 'string', ...(words ? { enum: words } : {}) } }
}
