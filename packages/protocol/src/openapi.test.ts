import { Validator } from '@seriousme/openapi-schema-validator'
import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import {
  allContracts,
  CommaList,
  type Contract,
  contract,
  FileIdParam,
  failuresOf,
  IdTagInput,
  openApiDocument,
  TimestampInput,
} from './index.ts'

const options = { title: 'Things', version: '1.2.3', serverUrl: '/' }

const putThing = contract({
  name: 'putThing',
  method: 'PUT',
  path: '/api/things/{fileId}/{path*}',
  aliases: ['/api/other'],
  tag: 'Things',
  summary: 'Put a thing',
  description: 'At length.',
  auth: 'optional',
  scope: 'write:files',
  guests: true,
  queryToken: true,
  role: 'SADM',
  params: Type.Object({ fileId: FileIdParam, path: Type.String() }),
  query: Type.Object({
    idTag: IdTagInput,
    tags: Type.Optional(CommaList(['a', 'b'])),
    limit: Type.Optional(Type.Integer({ default: 20, description: 'How many' })),
  }),
  queryAliases: { tag: 'tags' },
  headers: Type.Object({ 'x-secret': Type.String() }),
  body: {
    kind: 'json',
    optional: true,
    schema: Type.Object({
      at: TimestampInput,
      items: Type.Optional(Type.Array(Type.Tuple([Type.String(), Type.Integer()]))),
      'x-own': Type.Optional(Type.Boolean()),
    }),
  },
  reply: { kind: 'data', status: 201, schema: Type.Object({ ok: Type.Boolean() }) },
  errors: ['E-DUPLICATE', 'E-STATE'],
  example: { query: { idTag: 'alice.example.com' }, body: { at: 1 }, data: { ok: true } },
})

function contractWith(part: Partial<Contract>): Contract {
  const { name, path, tag, summary } = putThing
  return {
    name,
    method: 'POST',
    path: path.replace('/{fileId}/{path*}', ''),
    tag,
    summary,
    auth: 'none',
    reply: { kind: 'empty', status: 204 },
    errors: [],
    ...part,
  }
}

function operationOf(one: Contract) {
  const document = JSON.parse(JSON.stringify(openApiDocument([one], options)))
  return document.paths[one.path.replace('*}', '}')][one.method.toLowerCase()]
}

async function faults(contracts: readonly Contract[]) {
  const document = JSON.parse(JSON.stringify(openApiDocument(contracts, options)))
  const result = await new Validator().validate(document)
  return result.valid ? [] : result.errors
}

describe('openApiDocument', () => {
  test('is valid for every contract of the server', async () => {
    expect(await faults(allContracts)).toEqual([])
  })

  test('tells what the content of each type of action holds', () => {
    const text = JSON.stringify(openApiDocument(allContracts, options))
    expect(text).toContain(
      'POST title?, text?, summary?, category?, tags?, alt?; CMNT text, alt?; REPOST none',
    )
  })

  test('is valid for every kind of body and reply', async () => {
    const list = { kind: 'list', status: 200, schema: Type.Object({ a: Type.String() }) } as const
    const variants: Partial<Contract>[] = [
      {},
      { body: { kind: 'bytes' }, reply: { kind: 'bytes', status: 200 } },
      { body: { kind: 'jwt' }, reply: list },
      { reply: { kind: 'bare', status: 200, schema: Type.Null() } },
    ]
    for (const variant of [...variants.map(contractWith), putThing])
      expect(await faults([variant])).toEqual([])
  })

  test('names every operation once, with tag, title, version and server', () => {
    const document = openApiDocument(allContracts, options) as { paths: object; tags: { name: string }[] }
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path as object))
    expect(operations.map((each: { operationId: string }) => each.operationId).sort()).toEqual(
      allContracts.map((each) => each.name).sort(),
    )
    expect(document.tags.map((tag) => tag.name)).toEqual([...new Set(allContracts.map((each) => each.tag))])
    expect(document).toMatchObject({ info: { title: 'Things', version: '1.2.3' }, servers: [{ url: '/' }] })
  })

  test('describes parameters of every place', () => {
    expect(operationOf(putThing).parameters).toEqual([
      expect.objectContaining({ name: 'fileId', in: 'path', required: true }),
      expect.objectContaining({ name: 'path', in: 'path', required: true }),
      expect.objectContaining({ name: 'idTag', in: 'query', required: true, example: 'alice.example.com' }),
      expect.objectContaining({
        name: 'tags',
        in: 'query',
        required: false,
        style: 'form',
        explode: false,
        schema: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      }),
      expect.objectContaining({
        name: 'limit',
        description: 'How many',
        schema: { type: 'integer', default: 20 },
      }),
      expect.objectContaining({ name: 'x-secret', in: 'header', required: true }),
    ])
  })

  test('describes every parameter of every endpoint', () => {
    const nameless = allContracts.flatMap((each) =>
      (operationOf(each).parameters ?? [])
        .filter(({ description = '' }: { description?: string }) => description.trim() === '')
        .map(({ in: place, name }: { in: string; name: string }) => `${each.name}: ${place} ${name}`),
    )
    expect(nameless).toEqual([])
  })

  test('gives names to schemas, and refers to them wherever they stand', () => {
    const { components, paths } = JSON.parse(JSON.stringify(openApiDocument(allContracts, options)))
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining(['Action', 'File', 'Profile', 'Error']),
    )
    const dataOf = (path: string, method: string) =>
      paths[path][method].responses[200].content['application/json'].schema.properties.data
    const named = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    expect(dataOf('/api/actions/{actionId}', 'get')).toEqual(named('Action'))
    expect(dataOf('/api/files', 'get')).toEqual({ type: 'array', items: named('File') })
    expect(components.schemas.LoginSession.properties.email).toEqual(named('AccountEmail'))
    const used = new Set(JSON.stringify({ components, paths }).match(/#\/components\/schemas\/\w+/g))
    expect([...used].sort()).toEqual(
      Object.keys(components.schemas)
        .map((name) => `#/components/schemas/${name}`)
        .sort(),
    )
  })

  test('leaves no body or answer with more than two members without a name', () => {
    const isLarge = (schema: { items?: object; properties?: object } | undefined): boolean =>
      Object.keys(schema?.properties ?? {}).length > 2 ||
      (schema?.items !== undefined && isLarge(schema.items))
    const nameless = allContracts.flatMap((each) => {
      const { requestBody, responses } = operationOf(each)
      const body = requestBody?.content['application/json']?.schema
      const answer = responses[each.reply.status]?.content?.['application/json']?.schema
      return [
        ...(isLarge(body) ? [`${each.name}: body`] : []),
        ...(isLarge(each.reply.kind === 'bare' ? answer : answer?.properties?.data)
          ? [`${each.name}: answer`]
          : []),
      ]
    })
    expect(nameless).toEqual([])
  })

  test('tells scope, role, guests, other paths and other names', () => {
    const { description } = operationOf(putThing)
    for (const part of [
      'At length.',
      '`write:files`',
      '`SADM`',
      'guests',
      '`/api/other`',
      '`tag` for `tags`',
    ]) {
      expect(description).toContain(part)
    }
    expect(operationOf(contractWith({ auth: 'required', role: 'leader' })).description).toContain('`leader`')
    expect(operationOf(contractWith({ auth: 'required', unscoped: true })).description).toContain('`admin`')
    expect(operationOf(contractWith({}))).not.toHaveProperty('description')
  })

  test('tells which credentials are taken', () => {
    expect(operationOf(putThing).security).toEqual([{}, { bearer: [] }, { queryToken: [] }])
    expect(operationOf(contractWith({ auth: 'required' })).security).toEqual([{ bearer: [] }])
    expect(operationOf(contractWith({})).security).toEqual([])
  })

  test('wraps payloads as they are answered', () => {
    const schemaOf = (reply: Contract['reply']) =>
      operationOf(contractWith({ reply })).responses[reply.status].content?.['application/json'].schema
    const schema = Type.Integer()
    expect(Object.keys(schemaOf({ kind: 'data', status: 200, schema }).properties)).toEqual([
      'data',
      'time',
      'reqId',
    ])
    expect(schemaOf({ kind: 'list', status: 200, schema }).properties.data).toEqual({
      type: 'array',
      items: { type: 'integer' },
    })
    expect(schemaOf({ kind: 'bare', status: 200, schema })).toEqual({ type: 'integer' })
    expect(schemaOf({ kind: 'empty', status: 204 })).toBeUndefined()
    expect(operationOf(putThing).responses[201].content['application/json'].example).toMatchObject({
      data: { ok: true },
    })
  })

  test('lists every failure under its status, with the error body and an example', () => {
    const { responses } = operationOf(putThing)
    const listed = Object.values(responses).flatMap((response) => {
      const json = (response as { content?: Record<string, { examples?: object }> }).content?.[
        'application/json'
      ]
      return Object.keys(json?.examples ?? {})
    })
    expect(listed.sort()).toEqual(failuresOf(putThing))
    expect(responses[409].content['application/json'].schema).toEqual({ $ref: '#/components/schemas/Error' })
    expect(Object.keys(responses[409].content['application/json'].examples)).toEqual([
      'E-DUPLICATE',
      'E-STATE',
    ])
    expect(responses[429].headers).toHaveProperty('Retry-After')
  })

  test('speaks the schema vocabulary of OpenAPI 3.1 alone', () => {
    const { components } = JSON.parse(JSON.stringify(openApiDocument([putThing], options)))
    const schema = components.schemas.PutThingRequest
    expect(schema.properties.items.items).toEqual({
      type: 'array',
      prefixItems: [{ type: 'string' }, { type: 'integer' }],
      items: false,
      minItems: 2,
    })
    expect(schema.properties).toHaveProperty('x-own')
    expect(JSON.stringify(openApiDocument(allContracts, options))).not.toMatch(
      /"x-decode"|"x-words"|additionalItems/,
    )
  })
})
