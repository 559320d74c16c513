import { rtdbLimits } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { answerText, changeText, randomId } from './frames.ts'
import { isLongRequest, parseLongRequest, parseRequest } from './request.ts'

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const members = (count: number) => `{${Array.from({ length: count }, (_, at) => `"${at}":0`)}}`
/** With two values each. */
const objects = (count: number) => `[${Array(count).fill('{"a":0}')}]`

describe('a request', () => {
  test.each([
    ['ping', {}],
    ['get', { path: 'a/b' }],
    ['query', { path: 'a', filter: { equals: { x: null }, unknown: 1 }, sort: [], limit: 0, offset: 0 }],
    ['subscribe', { path: 'a', scope: 'document', select: [] }],
    ['transaction', { operations: [] }],
    ['presence', { state: null }],
    ['lock', { path: 'a', mode: 'hard' }],
  ] as const)('of type %s is read', (type, members) => {
    expect(parseRequest(JSON.stringify({ id: 1, type, ...members, more: 1 }))).toMatchObject({
      kind: 'request',
      id: 1,
      request: { type, data: members },
    })
  })

  test.each([1, 'one', 0, '', -1.5, undefined])('has the id %j as it was sent', (id) => {
    expect(parseRequest(JSON.stringify({ id, type: 'ping' }))).toMatchObject({ kind: 'request', id })
  })

  test.each(['', 'no', '1', 'null', '"ping"', '[{"type":"ping"}]', '{"type":"ping"', '\u0000'])(
    '%j is none',
    (text) => {
      expect(parseRequest(text)).toEqual({ kind: 'noise' })
    },
  )

  test.each([
    { id: 1 },
    { id: 1, type: 1 },
    { id: 1, type: 'nothing' },
    { id: 1, type: 'constructor' },
    { id: 1, type: '__proto__' },
    { id: 1, type: 'get' },
    { id: 1, type: 'get', path: null },
    { id: 1, type: 'query', path: 'a', filter: null },
    { id: 1, type: 'query', path: 'a', filter: { equals: [] } },
    { id: 1, type: 'query', path: 'a', filter: { inArray: { x: 1 } } },
    { id: 1, type: 'query', path: 'a', limit: -1 },
    { id: 1, type: 'query', path: 'a', limit: '1' },
    { id: 1, type: 'query', path: 'a', sort: [{ field: 'x' }] },
    { id: 1, type: 'query', path: 'a', aggregate: { groupBy: 'x', ops: [{ op: 'median', field: 'y' }] } },
    { id: 1, type: 'subscribe', path: 'a', scope: 'all' },
    { id: 1, type: 'transaction' },
    { id: 1, type: 'transaction', operations: [{ type: 'merge', path: 'a/b', data: {} }] },
    { id: 1, type: 'transaction', operations: [{ type: 'create', path: 'a', data: [] }] },
    { id: 1, type: 'transaction', operations: [], txId: 'x'.repeat(65) },
    { id: 1, type: 'lock', path: 'a', mode: 'firm' },
    { id: 1, type: 'presence', state: 'here' },
    { id: 1, type: 'auth' },
  ])('%j is malformed', (message) => {
    expect(parseRequest(JSON.stringify(message))).toMatchObject({ kind: 'malformed', id: 1 })
  })

  test('with a number that is too large is malformed, wherever that stands', () => {
    for (const [text, id] of [
      ['{"id":1,"type":"presence","state":{"cursor":1e400}}', 1],
      ['{"id":1,"type":"query","path":"a","filter":{"equals":{"x":-1e400}}}', 1],
      ['{"id":1e400,"type":"ping"}', undefined],
    ] as const)
      expect(parseRequest(text)).toMatchObject({ kind: 'malformed', id, message: 'a number is too large' })
  })

  test('of more than a hundred levels is malformed', () => {
    const parsed = (levels: number) => parseRequest(`{"id":1,"type":"ping","x":${nested(levels)}}`).kind
    expect([parsed(99), parsed(100), parsed(100_000)]).toEqual(['request', 'malformed', 'malformed'])
  })

  test('is long only as a transaction', async () => {
    const operations = [{ type: 'replace', path: 'a/b', data: { x: 'x'.repeat(64 * 1024) } }]
    const long = (members: object) => JSON.stringify({ id: 1, operations, ...members })
    const transaction = long({ type: 'transaction', txId: 'x', more: [1] })
    expect(isLongRequest(transaction)).toBe(true)
    expect(await parseLongRequest(transaction)).toEqual(parseRequest(transaction))
    const cut = long({ type: 'transaction', more: 'x'.repeat(64 * 1024) })
    for (const text of [long({ type: 'query', path: 'a' }), cut])
      expect(await parseLongRequest(text)).toMatchObject({ kind: 'malformed', id: 1 })
  })

  test.each([
    ['an operation that is none', [{ type: 'replace', path: 'a/b', data: [] }]],
    ['operations that are no list', { type: 'replace' }],
    ['an operation that is too deep', [JSON.parse(`${'['.repeat(99)}${']'.repeat(99)}`)]],
    ['more operations than there may be', Array(501).fill({ type: 'delete', path: 'a/b' })],
  ])('that is long with %s is read as one that is short', async (_, operations) => {
    const text = JSON.stringify({ type: 'transaction', id: 'x', operations })
    expect(await parseLongRequest(text)).toEqual(parseRequest(text))
  })

  test('of which an operation is too long is malformed', async () => {
    const data = { x: 'x'.repeat(rtdbLimits.operationCharacters) }
    const text = JSON.stringify({
      id: 1,
      type: 'transaction',
      operations: [{ type: 'create', path: 'a', data }],
    })
    expect(await parseLongRequest(text)).toMatchObject({ kind: 'malformed', id: 1 })
  })

  test.each([
    ['an operation has more than 98 levels', 'levels', [nested(99)]],
    ['an operation has very many levels', 'levels', [nested(1_500_000)]],
    ['an operation has too many values', 'values', [objects(rtdbLimits.operationValues / 2)]],
    ['its operations have too many values together', 'values', Array(11).fill(objects(47_500))],
    ['an operation has too many names', 'names', [members(rtdbLimits.documentNames)]],
  ])('that is long is malformed where %s, before anything of it is parsed', async (_, bound, data) => {
    const operations = data.map((value) => `{"type":"replace","path":"a/b","data":{"v":${value}}}`)
    const text = `{"type":"transaction","operations":[{"type":"x"},${operations}],"id":1}`
    const message = expect.stringMatching(bound)
    expect(await parseLongRequest(text)).toEqual({ kind: 'malformed', id: 1, message })
  })

  test('may be long with a hundred thousand values in an operation', async () => {
    const data = `{"v":${objects(rtdbLimits.operationValues / 2 - 10)}}`
    const text = `{"type":"transaction","id":1,"operations":[{"type":"replace","path":"a/b","data":${data}}]}`
    expect(await parseLongRequest(text)).toEqual(parseRequest(text))
  })

  test('takes a bounded number of conditions, fields and operations', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, at) => `f${at}`)
    const kind = (members: object) =>
      parseRequest(JSON.stringify({ id: 1, type: 'query', path: 'a', ...members })).kind
    const filter = (count: number) => ({
      filter: { notEquals: Object.fromEntries(fields(count).map((field) => [field, 1])) },
    })
    const sort = (count: number) => ({ sort: fields(count).map((field) => ({ field, ascending: true })) })
    const aggregate = (count: number) => ({
      aggregate: { groupBy: 'g', ops: fields(count).map((field) => ({ op: 'sum', field })) },
    })
    for (const members of [filter(100), sort(16), aggregate(64), { select: fields(1000) }])
      expect(kind(members)).toBe('request')
    for (const members of [filter(101), sort(17), aggregate(65), { select: fields(1001) }])
      expect(kind(members)).toBe('malformed')
  })

  test.each([null, true, {}, []])('with the id %j is malformed, and answered without one', (id) => {
    const parsed = parseRequest(JSON.stringify({ id, type: 'ping' }))
    expect(parsed).toMatchObject({ kind: 'malformed', id: undefined })
  })
})

test('an answer has the members that are named, and none that has no value', () => {
  expect(answerText('pong', undefined, {})).toBe('{"type":"pong"}')
  expect(answerText('getResult', '1', { data: null })).toBe('{"type":"getResult","id":"1","data":null}')
  const failed = { code: 404, message: 'no' } as const
  expect(JSON.parse(answerText('error', 1, failed))).toEqual({ type: 'error', id: 1, ...failed })
})

test('an event has an id of 24 letters and digits of its own', () => {
  const text = changeText('s1', '{"action":"delete","path":"a/b"}')
  expect(JSON.parse(text)).toEqual({
    type: 'change',
    id: expect.stringMatching(/^[0-9A-Za-z]{24}$/),
    subscriptionId: 's1',
    event: { action: 'delete', path: 'a/b' },
  })
  expect(new Set(Array.from({ length: 1000 }, randomId)).size).toBe(1000)
})
