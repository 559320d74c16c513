import {
  ActionIdParam,
  allContracts,
  CommaList,
  contract,
  DomainParam,
  FileIdParam,
  IdTagInput,
  JsonObject,
  Nullable,
  ProfileParam,
  pageQuery,
  RefIdParam,
  TimestampInput,
  VariantIdParam,
  Words,
} from '@kith/protocol'
import fc from 'fast-check'
import Type, { type TObject, type TSchema } from 'typebox'
import { describe, expect, test } from 'vitest'
import { httpSites, jsonBody } from '#harness/http-site.ts'
import { bind, type Endpoint } from './endpoint.ts'
import { inputReaderOf } from './request-input.ts'

const serving = httpSites()

const base = {
  tag: 'Things',
  summary: 'Echo',
  auth: 'none',
  reply: { kind: 'data', status: 200, schema: Type.Unknown() },
  errors: [],
} as const

/** Endpoints that answer what their handlers receive. */
function echoQuery(query: TObject, queryAliases: Record<string, string> = {}): Endpoint {
  const echo = contract({ ...base, name: 'echoQuery', method: 'GET', path: '/api/echo', query, queryAliases })
  return bind(echo, async (call) => call.query)
}

function echoBody(schema: TSchema, options: { optional?: true } = {}): Endpoint {
  const body = { kind: 'json', schema, ...options } as const
  const echo = contract({ ...base, name: 'echoBody', method: 'POST', path: '/api/echo', body })
  return bind(echo, async (call) => ({ received: call.body === undefined ? 'nothing' : call.body }))
}

function echoParam(path: string, params: TObject): Endpoint {
  return bind(
    contract({ ...base, name: 'echoParam', method: 'GET', path, params }),
    async (call) => call.params,
  )
}

const query = Type.Object({
  ...pageQuery,
  number: Type.Optional(Type.Number()),
  flag: Type.Optional(Type.Boolean()),
  words: Type.Optional(CommaList()),
  known: Type.Optional(CommaList(['a', 'b'])),
  word: Type.Optional(Words(['x', 'y'])),
  idTag: Type.Optional(IdTagInput),
  at: Type.Optional(TimestampInput),
  text: Type.Optional(Type.String({ minLength: 2 })),
})

describe('query parameters', () => {
  test.each<[string, object]>([
    ['', { limit: 20 }],
    ['limit=5', { limit: 5 }],
    ['_limit=5&_offset=3', { limit: 5, offset: 3 }],
    ['limit=5&_limit=9', { limit: 5 }],
    ['amount=7', { limit: 20, number: 7 }],
    ['number=-1.5', { limit: 20, number: -1.5 }],
    ['flag=true', { limit: 20, flag: true }],
    ['flag=false', { limit: 20, flag: false }],
    ['words=b,a,,c', { limit: 20, words: ['b', 'a', 'c'] }],
    ['words=', { limit: 20, words: [] }],
    ['words=a&words=b,c', { limit: 20, words: ['a', 'b', 'c'] }],
    ['known=b', { limit: 20, known: ['b'] }],
    ['word=x', { limit: 20, word: 'x' }],
    ['idTag=B%C3%BCcher.Example', { limit: 20, idTag: 'xn--bcher-kva.example' }],
    ['at=2026-01-31T12:00:00Z', { limit: 20, at: 1_769_860_800 }],
    ['at=2026-01-31T13:00:00%2B01:00', { limit: 20, at: 1_769_860_800 }],
    ['at=1769860800', { limit: 20, at: 1_769_860_800 }],
    ['text=a+b%26', { limit: 20, text: 'a b&' }],
    ['unknown=1&__proto__=1&constructor=1', { limit: 20 }],
    ['unknown=1&unknown=2', { limit: 20 }],
  ])('%s is received as %j', async (text, received) => {
    const { send } = await serving(echoQuery(query, { amount: 'number' }))
    expect((await send(`/api/echo?${text}`)).json.data).toEqual(received)
  })

  test.each([
    ['limit=0', '/query/limit', 'must be >= 1'],
    ['limit=201', '/query/limit', 'must be <= 200'],
    ['limit=5.5', '/query/limit', 'must be integer'],
    ['limit=abc', '/query/limit', 'must be integer'],
    ['limit=', '/query/limit', 'must be integer'],
    ['limit=+5', '/query/limit', 'must be integer'],
    ['limit=0x10', '/query/limit', 'must be integer'],
    ['limit=1e1', '/query/limit', 'must be integer'],
    ['limit=99999999999999999999', '/query/limit', 'must be integer'],
    ['_limit=0', '/query/limit', 'must be >= 1'],
    ['limit=1&limit=2', '/query/limit', 'is given more than once'],
    ['number=NaN', '/query/number', 'must be number'],
    ['flag=1', '/query/flag', 'must be boolean'],
    ['flag=TRUE', '/query/flag', 'must be boolean'],
    ['known=a,c', '/query/known', 'must be a comma list of a, b'],
    ['word=z', '/query/word', 'must be "x" or "y"'],
    ['idTag=localhost', '/query/idTag', 'must be an identity: a DNS name of at least two labels'],
    ['at=1769860800000', '/query/at', 'must be ISO 8601 with a zone, or Unix seconds (not milliseconds)'],
    ['at=2026-01-31', '/query/at', 'must be ISO 8601 with a zone, or Unix seconds (not milliseconds)'],
    ['text=a', '/query/text', 'must NOT have fewer than 2 characters'],
    ['text=a%00b', '', 'must not contain the character U+0000'],
  ])('%s is refused', async (text, path, message) => {
    const { send } = await serving(echoQuery(query))
    const { status, json } = await send(`/api/echo?${text}`)
    expect(status).toBe(400)
    expect(json.error).toMatchObject({ code: 'E-VALIDATION', details: { issues: [{ path, message }] } })
  })

  test('that are required are named when they are missing', async () => {
    const { send } = await serving(echoQuery(Type.Object({ target: IdTagInput })))
    expect((await send('/api/echo')).json.error.details.issues).toEqual([
      { path: '/query/target', message: 'is required' },
    ])
  })

  test('with any text are received or refused, never a server error', async () => {
    const { send } = await serving(echoQuery(query))
    const names = fc.constantFrom(
      'limit',
      'offset',
      'flag',
      'words',
      'at',
      'idTag',
      '__proto__',
      'toString',
      '%',
      '&',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(names, fc.string()), { maxLength: 4 }), async (pairs) => {
        const text = pairs
          .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
          .join('&')
        expect([200, 400]).toContain((await send(`/api/echo?${text}`)).status)
      }),
    )
  })
})

describe('path parameters', () => {
  const hash = 'A'.repeat(43)
  test.each<[string, TSchema, string, string]>([
    ['a file id', FileIdParam, `b1~${hash}`, 'E-FILE-NOTFOUND'],
    ['a variant id', VariantIdParam, `b1~${hash}~tn`, 'E-FILE-NOTFOUND'],
    ['an action id', ActionIdParam, `a1~${hash}`, 'E-ACTION-NOTFOUND'],
    ['a reference id', RefIdParam, 'a'.repeat(24), 'E-NOTFOUND'],
  ])('%s in a bad form is answered like an unknown one', async (_, schema, good, code) => {
    const { send } = await serving(echoParam('/api/thing/{id}', Type.Object({ id: schema })))
    expect((await send(`/api/thing/${good}`)).json.data).toEqual({ id: good })
    for (const bad of ['x', `${good}x`, '%00', '..%2f..%2fetc', 'a'.repeat(2000)]) {
      const { status, json } = await send(`/api/thing/${bad}`)
      expect([status, json.error.code], bad).toEqual([404, code])
      expect(json.error).not.toHaveProperty('details')
    }
  })

  test.each([
    ['an identity', ProfileParam, 'E-PROFILE-NOTFOUND'],
    ['a domain', DomainParam('A domain'), 'E-NOTFOUND'],
  ])('%s in a bad form is answered like an unknown one, with the form', async (_, schema, code) => {
    const { send } = await serving(echoParam('/api/profiles/{idTag}', Type.Object({ idTag: schema })))
    expect((await send('/api/profiles/Alice.Example')).json.data).toEqual({ idTag: 'alice.example' })
    for (const bad of ['alice', '-a.example', 'a..example', '127.0.0.1', '%00', 'a.'.repeat(800)]) {
      const { status, json } = await send(`/api/profiles/${bad}`)
      expect([status, json.error.code], bad).toEqual([404, code])
      expect(json.error.message).toBe('A name is a DNS name of at least two labels.')
    }
  })

  test('are decoded once', async () => {
    const { send } = await serving(echoParam('/api/name/{name}', Type.Object({ name: Type.String() })))
    expect((await send('/api/name/a%2Fb%2541%20c')).json.data).toEqual({ name: 'a/b%41 c' })
  })

  test('take the rest of the path where they end with an asterisk', async () => {
    const params = Type.Object({ id: Type.String(), path: Type.String() })
    const { send } = await serving(echoParam('/api/content/{id}/{path*}', params))
    expect((await send('/api/content/x/a/b/c.js?y=1')).json.data).toEqual({ id: 'x', path: 'a/b/c.js' })
  })

  test('with broken percent encoding are 400', async () => {
    const { send } = await serving(echoParam('/api/name/{name}', Type.Object({ name: Type.String() })))
    const { status, json } = await send('/api/name/%zz')
    expect([status, json.error.code]).toEqual([400, 'E-VALIDATION'])
  })
})

describe('the contracts of the server', () => {
  test('all have input that can be compiled', () => {
    for (const each of allContracts) expect(inputReaderOf(each), each.name).toBeDefined()
  })
})

describe('request headers', () => {
  test('that the contract names are checked and received, others not', async () => {
    const headers = Type.Object({
      'x-qr-secret': Type.String({ minLength: 3 }),
      'x-count': Type.Optional(Type.Integer()),
    })
    const echo = contract({ ...base, name: 'echoHeaders', method: 'GET', path: '/api/echo', headers })
    const { send } = await serving(bind(echo, async (call) => call.headers))
    const sent = { 'X-QR-Secret': 'abc', 'x-count': '5', 'x-other': 'y' }
    expect((await send('/api/echo', { headers: sent })).json.data).toEqual({
      'x-qr-secret': 'abc',
      'x-count': 5,
    })
    const { json } = await send('/api/echo')
    expect(json.error.details.issues).toEqual([{ path: '/headers/x-qr-secret', message: 'is required' }])
  })
})

describe('JSON bodies', () => {
  const body = Type.Object({
    name: Type.String({ minLength: 1 }),
    age: Type.Optional(Type.Integer({ minimum: 0 })),
    size: Type.Optional(Type.Integer({ default: 3 })),
    idTag: Type.Optional(IdTagInput),
    at: Type.Optional(TimestampInput),
    tags: Type.Optional(CommaList()),
    inner: Type.Optional(Type.Object({ a: Type.Optional(Type.Boolean()) })),
    list: Type.Optional(Type.Array(Type.Object({ b: Type.String() }))),
    parent: Type.Optional(Nullable(Type.String({ minLength: 2 }))),
    nested: Type.Optional(Nullable(Type.Object({ c: Type.Integer() }))),
    word: Type.Optional(Type.Union([Type.Literal('P'), Type.Literal('V')])),
    free: Type.Optional(JsonObject),
  })

  test('are decoded, defaulted, and received without members that have no name in the schema', async () => {
    const { send } = await serving(echoBody(body))
    const sent = {
      name: 'n',
      idTag: 'ALICE.example',
      at: '2026-01-31T12:00:00Z',
      tags: 'a,b',
      roles: ['SADM'],
      inner: { a: true, evil: 1 },
      list: [{ b: 'x', evil: 1 }],
      parent: null,
      nested: { c: 1, evil: 1 },
      word: 'V',
      free: { anything: { goes: [1] } },
    }
    expect((await send('/api/echo', { method: 'POST', ...jsonBody(sent) })).json.data.received).toEqual({
      name: 'n',
      size: 3,
      idTag: 'alice.example',
      at: 1_769_860_800,
      tags: ['a', 'b'],
      inner: { a: true },
      list: [{ b: 'x' }],
      parent: null,
      nested: { c: 1 },
      word: 'V',
      free: { anything: { goes: [1] } },
    })
  })

  test.each<[string, unknown, string, string]>([
    ['a missing member', {}, '/name', 'is required'],
    ['a wrong type', { name: 5 }, '/name', 'must be string'],
    ['text for a number: nothing is coerced', { name: 'n', age: '5' }, '/age', 'must be integer'],
    ['a number for text', { name: 'n', idTag: 5 }, '/idTag', 'must be string'],
    [
      'milliseconds',
      { name: 'n', at: 1_769_860_800_000 },
      '/at',
      'must be ISO 8601 with a zone, or Unix seconds (not milliseconds)',
    ],
    ['a member deep inside', { name: 'n', list: [{ b: 'x' }, { b: 1 }] }, '/list/1/b', 'must be string'],
    ['a nullable member', { name: 'n', parent: 'x' }, '/parent', 'must NOT have fewer than 2 characters'],
    ['a word of a union', { name: 'n', word: 'X' }, '/word', 'must be "P" or "V"'],
    ['no object', [], '', 'must be object'],
    ['null', null, '', 'must be object'],
  ])('with %s are refused', async (_, sent, path, message) => {
    const { send } = await serving(echoBody(body))
    const { status, json } = await send('/api/echo', { method: 'POST', ...jsonBody(sent) })
    expect(status).toBe(400)
    expect(json.error).toMatchObject({ code: 'E-VALIDATION', details: { issues: [{ path, message }] } })
  })

  test('escape the names of members in paths', async () => {
    const { send } = await serving(echoBody(Type.Object({ 'a/b~c': Type.String() })))
    const { json } = await send('/api/echo', { method: 'POST', ...jsonBody({}) })
    expect(json.error.details.issues[0].path).toBe('/a~1b~0c')
  })

  test('may be any JSON value where the schema is free', async () => {
    const { send } = await serving(echoBody(Type.Unknown()))
    for (const value of [5, 'x', null, true, [1], { a: 1 }]) {
      expect((await send('/api/echo', { method: 'POST', ...jsonBody(value) })).json.data.received).toEqual(
        value,
      )
    }
  })

  test('cannot reach a prototype', async () => {
    const { send } = await serving(echoBody(Type.Object({ free: JsonObject })))
    for (const name of ['__proto__', '\\u005f_proto__']) {
      const text = `{"${name}":{"isAdmin":true},"free":{"${name}":{"isAdmin":true},"constructor":{"prototype":{"x":1}},"a":1}}`
      const { json } = await send('/api/echo', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: text,
      })
      expect(json.data.received).toEqual({ free: { a: 1 } })
    }
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
  })
})
