import Type from 'typebox'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  ActionIdParam,
  allContracts,
  type BodyOf,
  type Contract,
  contract,
  type DataOf,
  errorMessage,
  errorStatus,
  FileIdParam,
  failuresOf,
  type IdTag,
  IdTagInput,
  paginationOf,
  type QueryOf,
} from './index.ts'

const base = {
  name: 'getThing',
  method: 'GET',
  path: '/api/things',
  tag: 'Things',
  summary: 'A thing',
  auth: 'none',
  anyHost: true,
  reply: { kind: 'data', status: 200, schema: Type.String() },
  errors: [],
} as const satisfies Contract

describe('failuresOf', () => {
  test.each<[string, Partial<Contract>, readonly string[]]>([
    ['nothing declared', {}, ['E-INTERNAL', 'E-RATELIMIT']],
    ['a query', { query: Type.Object({}) }, ['E-VALIDATION']],
    ['a body', { body: { kind: 'bytes' } }, ['E-VALIDATION', 'E-TOOLARGE', 'E-MEDIATYPE']],
    ['a tenant', { anyHost: undefined } as never, ['E-PROFILE-NOTFOUND']],
    ['a credential', { auth: 'optional' }, ['E-AUTH-UNAUTH', 'E-AUTH-FORBIDDEN']],
    ['a scope', { auth: 'required', guests: true, scope: 'read:files' }, ['E-AUTH-FORBIDDEN']],
    ['a role', { auth: 'required', guests: true, role: 'SADM' }, ['E-AUTH-FORBIDDEN']],
    ['a file id', { params: Type.Object({ fileId: FileIdParam }) }, ['E-FILE-NOTFOUND']],
    ['an action id', { params: Type.Object({ actionId: ActionIdParam }) }, ['E-ACTION-NOTFOUND']],
    ['a part that may be off', { feature: 'idp' }, ['E-NOTFOUND']],
    ['codes of its own', { errors: ['E-GONE'] }, ['E-GONE']],
  ])('follow from %s', (_, part, codes) => {
    expect(failuresOf({ ...base, ...part })).toEqual(expect.arrayContaining([...codes]))
  })

  test('leave out what cannot happen', () => {
    expect(failuresOf(base)).toEqual(['E-INTERNAL', 'E-RATELIMIT'])
    expect(failuresOf({ ...base, auth: 'required', guests: true })).not.toContain('E-AUTH-FORBIDDEN')
    expect(failuresOf({ ...base, params: Type.Object({ idTag: IdTagInput }) })).not.toContain('E-NOTFOUND')
  })
})

describe('paginationOf', () => {
  test.each([
    [{ items: [1], nextCursor: 'x' }, { cursorPagination: { nextCursor: 'x', hasMore: true } }],
    [{ items: [1], nextCursor: null }, { cursorPagination: { nextCursor: null, hasMore: false } }],
    [
      { items: [1, 2], total: 5, offset: 2, limit: 2 },
      { pagination: { total: 5, offset: 2, limit: 2, hasMore: true } },
    ],
    [
      { items: [1], total: 5, offset: 4, limit: 2 },
      { pagination: { total: 5, offset: 4, limit: 2, hasMore: false } },
    ],
    [
      { items: [], total: 5, offset: 9, limit: 2 },
      { pagination: { total: 5, offset: 9, limit: 2, hasMore: false } },
    ],
  ])('of %j', (page, pagination) => {
    expect(paginationOf(page)).toEqual(pagination)
  })
})

describe('contract types', () => {
  test('give handlers decoded input and clients the payload', () => {
    const getThing = contract({
      ...base,
      query: Type.Object({ idTag: IdTagInput, limit: Type.Optional(Type.Integer()) }),
      body: { kind: 'json', schema: Type.Object({ a: Type.String() }), optional: true },
    })
    expectTypeOf<QueryOf<typeof getThing>>().toEqualTypeOf<{ idTag: IdTag; limit?: number }>()
    expectTypeOf<BodyOf<typeof getThing>>().toEqualTypeOf<{ a: string } | undefined>()
    expectTypeOf<DataOf<typeof getThing>>().toEqualTypeOf<string>()
  })
})

describe('the contracts of the server', () => {
  test('have distinct names and distinct method and path', () => {
    const names = allContracts.map((each) => each.name)
    expect(new Set(names).size).toBe(names.length)
    const routes = allContracts.flatMap((each) =>
      [each.path, ...(each.aliases ?? [])].map((path) => `${each.method} ${path.replaceAll(/\{\w+/g, '{')}`),
    )
    expect(routes.filter((route, at) => routes.indexOf(route) !== at)).toEqual([])
  })

  test.each(allContracts.map((each) => [each.name, each] as const))('%s fits together', (_, each) => {
    const inPath = [...each.path.matchAll(/\{(\w+)\*?\}/g)].map((match) => match[1])
    expect(Object.keys(each.params?.properties ?? {}).sort()).toEqual(inPath.sort())
    for (const alias of each.aliases ?? []) {
      expect([...alias.matchAll(/\{(\w+)\*?\}/g)].map((match) => match[1]).sort()).toEqual(inPath)
    }
    for (const name of Object.values(each.queryAliases ?? {})) {
      expect(Object.keys(each.query?.properties ?? {})).toContain(name)
    }
    if (each.auth === 'none') expect(each.scope ?? each.unscoped ?? each.role ?? each.guests).toBeUndefined()
    expect(each.scope && each.unscoped).toBeFalsy()
    expect(each.body && ['GET', 'DELETE'].includes(each.method)).toBeFalsy()
  })
})

describe('errors', () => {
  test('all have a status and a sentence', () => {
    expect(Object.keys(errorMessage).sort()).toEqual(Object.keys(errorStatus).sort())
    for (const sentence of Object.values(errorMessage)) expect(sentence).toMatch(/^[A-Z].*\.$/)
  })
})
