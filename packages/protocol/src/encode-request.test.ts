import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { contract } from './contract.ts'
import { encodeBody, encodePath } from './encode-request.ts'
import { CommaList, IdTagInput, TimestampInput } from './schemas.ts'

const thing = contract({
  name: 'putThing',
  method: 'PUT',
  path: '/api/things/{id}/content/{path*}',
  tag: 'Things',
  summary: 'Put',
  auth: 'none',
  params: Type.Object({ id: Type.String(), path: Type.String() }),
  query: Type.Object({ a: Type.Optional(Type.String()) }),
  body: {
    kind: 'json',
    schema: Type.Object({
      tags: Type.Optional(CommaList()),
      at: Type.Optional(TimestampInput),
      idTag: Type.Optional(IdTagInput),
      list: Type.Optional(Type.Array(Type.String())),
    }),
  },
  reply: { kind: 'data', status: 200, schema: Type.String() },
  errors: [],
})
const params = { id: 'x', path: 'a' }

describe('encodePath', () => {
  test('escapes what would change the path', () => {
    expect(encodePath(thing, { params: { id: 'a/b?c#d%é', path: 'dir/index.html' } })).toBe(
      '/api/things/a%2Fb%3Fc%23d%25%C3%A9/content/dir/index.html',
    )
  })

  test.each(['', '.', '..'])('refuses %j as a segment', (id) => {
    expect(() => encodePath(thing, { params: { id, path: 'a' } })).toThrow(TypeError)
    expect(() => encodePath(thing, { params: { id: 'x', path: `a/${id}/b` } })).toThrow(TypeError)
  })

  test('writes lists, dates, numbers and booleans as the server reads them', () => {
    const query = {
      list: ['a', 'b c'],
      at: new Date(0),
      limit: 5,
      flag: false,
      none: undefined,
      text: 'a&b=c',
    }
    expect(encodePath(thing, { params, query })).toBe(
      '/api/things/x/content/a?list=a%2Cb+c&at=1970-01-01T00%3A00%3A00.000Z&limit=5&flag=false&text=a%26b%3Dc',
    )
    expect(encodePath(thing, { params, query: { none: undefined } })).toBe('/api/things/x/content/a')
  })
})

describe('encodeBody', () => {
  test('writes comma lists as text and dates as ISO 8601', () => {
    const body = { tags: ['a', 'b'], at: new Date(0), idTag: 'alice.example', list: ['a', 'b'] }
    expect(encodeBody(thing, body)).toEqual({
      type: 'application/json',
      text: '{"tags":"a,b","at":"1970-01-01T00:00:00.000Z","idTag":"alice.example","list":["a","b"]}',
    })
  })

  test('writes tokens as they are, and nothing where there is no body', () => {
    expect(encodeBody({ ...thing, body: { kind: 'jwt' } }, 'a.b.c')).toEqual({
      type: 'application/jwt',
      text: 'a.b.c',
    })
    expect(encodeBody(thing, undefined)).toBeUndefined()
    const { body: _, ...bodiless } = thing
    expect(encodeBody(bodiless, {})).toBeUndefined()
  })
})
