import { Action, allContracts, enveloped, FileView, JsonObject, Nullable, Words } from '@kith/protocol'
import fc from 'fast-check'
import Type, { type TSchema } from 'typebox'
import { describe, expect, test } from 'vitest'
import { anyText } from '#harness/any-text.ts'
import { runsOf } from '#harness/property-runs.ts'
import { RawJson } from './raw-json.ts'
import { ContractBreach, compileSerializer } from './serializer.ts'

const written = (schema: TSchema, value: unknown): unknown => JSON.parse(compileSerializer(schema)(value))

interface Sample {
  readonly schema: TSchema
  readonly value: fc.Arbitrary<unknown>
}

// Without quotes and backslashes: JSON.parse of V8 14.6 loses members whose names differ in these alone.
const anyName = fc.string().map((name) => name.replaceAll(/["\\]/g, ''))
const anyScalar = fc.oneof(anyText, fc.integer(), fc.boolean(), fc.constant(null))
const anyJson = fc.oneof(
  anyScalar,
  fc.array(anyScalar),
  fc.dictionary(anyName, fc.oneof(anyScalar, fc.array(anyScalar))),
)
const anyObject = fc.dictionary(anyName, anyJson)
const leaf = (schema: TSchema, value: fc.Arbitrary<unknown>): Sample => ({ schema, value })
const leaves: readonly Sample[] = [
  leaf(Type.String(), anyText),
  leaf(Type.Integer(), fc.integer()),
  leaf(Type.Number(), fc.double({ noNaN: true, noDefaultInfinity: true })),
  leaf(Type.Boolean(), fc.boolean()),
  leaf(Type.Null(), fc.constant(null)),
  leaf(Type.Literal('ok'), fc.constant('ok')),
  leaf(Words(['a', 'b']), fc.constantFrom('a', 'b')),
  leaf(JsonObject, anyObject),
  leaf(Type.Unknown(), anyJson),
]

/** Schemas of every kind with arbitrary values that fit them. */
const anySample: fc.Arbitrary<Sample> = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...leaves),
    tie('sample').map((item) => leaf(Type.Array(item.schema), fc.array(item.value, { maxLength: 4 }))),
    tie('sample').map((item) =>
      leaf(Type.Record(Type.String(), item.schema), fc.dictionary(anyName, item.value)),
    ),
    tie('sample').map((item) => leaf(Nullable(item.schema), fc.option(item.value))),
    fc
      .tuple(tie('sample'), tie('sample'))
      .map(([a, b]) => leaf(Type.Tuple([a.schema, b.schema]), fc.tuple(a.value, b.value))),
    fc
      .dictionary(fc.stringMatching(/^[\w' é-]{1,8}$/), fc.tuple(tie('sample'), fc.boolean()), {
        maxKeys: 5,
      })
      .map((members) => {
        const entries = Object.entries(members).filter(([name]) => name !== '__proto__')
        const schema = Type.Object(
          Object.fromEntries(
            entries.map(([name, [item, isOptional]]) => [
              name,
              isOptional ? Type.Optional(item.schema) : item.schema,
            ]),
          ),
        )
        const values = Object.fromEntries(entries.map(([name, [item]]) => [name, item.value]))
        return leaf(
          schema,
          fc.record(values, {
            requiredKeys: entries.filter(([, [, isOptional]]) => !isOptional).map(([name]) => name),
          }),
        )
      }),
  ),
})).sample

/** What the envelope of JSON itself makes of a value: without `undefined`, -0 as 0. */
const normal = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('compileSerializer', () => {
  test('writes what JSON.parse reads back', () => {
    const sampleWithValue = anySample.chain(({ schema, value }) =>
      value.map((each) => ({ schema, value: each })),
    )
    fc.assert(
      fc.property(sampleWithValue, ({ schema, value }) => {
        expect(written(schema, value)).toEqual(normal(value))
      }),
      { numRuns: runsOf(375) },
    )
  })

  test('writes the same with stored JSON in the place of free values', () => {
    const schema = Type.Object({
      a: Type.String(),
      content: Type.Optional(JsonObject),
      list: Type.Array(JsonObject),
      any: Type.Unknown(),
    })
    const view = fc.record({ a: fc.string(), content: anyObject, list: fc.array(anyObject), any: anyJson })
    fc.assert(
      fc.property(view, (value) => {
        const raw = (part: unknown) => new RawJson(JSON.stringify(part))
        const spliced = {
          a: value.a,
          content: raw(value.content),
          list: value.list.map(raw),
          any: raw(value.any),
        }
        expect(written(schema, spliced)).toEqual(normal(value))
        expect(normal(spliced)).toEqual(normal(value))
      }),
    )
  })

  test.each(['toString', 'constructor', '__proto__'])(
    'takes %s for a member only where there is one',
    (name) => {
      const schema = Type.Object({
        [name]: Type.Optional(Type.String()),
        any: Type.Optional(Type.Array(Type.Object({ [name]: Type.Optional(Type.Unknown()) }))),
      })
      expect(written(schema, { any: [{}] })).toEqual({ any: [{}] })
      const whole = JSON.parse(`{ "${name}": "x", "any": [{ "${name}": 1 }] }`)
      expect(JSON.stringify(written(schema, whole))).toBe(JSON.stringify(whole))
    },
  )

  test('leaves out members that the schema does not name, at every depth', () => {
    const schema = Type.Object({
      name: Type.String(),
      inner: Type.Object({ a: Type.Integer() }),
      list: Type.Array(Type.Object({ x: JsonObject, b: Type.Optional(Type.Boolean()) })),
    })
    const value = {
      name: 'n',
      password: 'secret',
      inner: { a: 1, secret: 2 },
      list: [{ x: { free: true }, secret: 3 }],
    }
    expect(written(schema, value)).toEqual({ name: 'n', inner: { a: 1 }, list: [{ x: { free: true } }] })
  })

  test('leaves out optional members that are undefined or null, and keeps null where it is a value', () => {
    const schema = Type.Object({
      a: Type.Optional(Type.String()),
      b: Type.Optional(Nullable(Type.String())),
      c: Type.Optional(JsonObject),
      d: Nullable(Type.String()),
    })
    expect(written(schema, { a: null, b: null, c: null, d: null })).toEqual({ b: null, d: null })
    expect(written(schema, { d: 'x' })).toEqual({ d: 'x' })
  })

  test.each<[string, TSchema, unknown]>([
    ['a missing member', Type.Object({ a: Type.String() }), {}],
    ['a missing free member', Type.Object({ a: JsonObject }), {}],
    ['null for a string', Type.Object({ a: Type.String() }), { a: null }],
    ['a number for a string', Type.String(), 1],
    ['text for a number', Type.Integer(), '1'],
    ['a fraction for an integer', Type.Integer(), 1.5],
    ['NaN', Type.Number(), Number.NaN],
    ['a bigint', Type.Integer(), 1n],
    ['text for a boolean', Type.Boolean(), 'true'],
    ['something for null', Type.Null(), 'x'],
    ['an object for a list', Type.Array(Type.String()), {}],
    ['a list of another length for a tuple', Type.Tuple([Type.String()]), ['a', 'b']],
    ['text for an object', Type.Object({}), 'x'],
    ['no form of a union', Type.Union([Type.String(), Type.Integer()]), true],
    ['undefined for free JSON', Type.Unknown(), undefined],
    ['a wrong record member', Type.Record(Type.String(), Type.Integer()), { a: 'x' }],
  ])('refuses %s as a bug', (_, schema, value) => {
    expect(() => compileSerializer(schema)(value)).toThrow(ContractBreach)
  })

  test('names the place of a bug', () => {
    const schema = Type.Object({ list: Type.Array(Type.Object({ a: Type.String() })) })
    expect(() => compileSerializer(schema)({ list: [{}] })).toThrow('/list/*/a')
  })

  test('chooses the form of a union by its literals and required members', () => {
    const union = Type.Union([
      Type.Object({ kind: Type.Literal('a'), value: Type.String() }),
      Type.Object({ kind: Type.Literal('b'), other: JsonObject }),
      Type.Integer(),
    ])
    expect(written(union, { kind: 'b', other: { x: 1 }, value: 'hidden' })).toEqual({
      kind: 'b',
      other: { x: 1 },
    })
    expect(written(union, { kind: 'a', value: 'v', other: {} })).toEqual({ kind: 'a', value: 'v' })
    expect(written(union, 5)).toBe(5)
  })

  test('writes the parts of an intersection as one object', () => {
    const schema = Type.Intersect([
      Type.Object({ a: Type.String() }),
      Type.Object({ b: Type.Optional(JsonObject) }),
    ])
    expect(written(schema, { a: 'x', b: { c: 1 }, d: 2 })).toEqual({ a: 'x', b: { c: 1 } })
  })

  test('writes undefined as null where null is all that can be', () => {
    expect(written(Type.Null(), undefined)).toBeNull()
    expect(written(enveloped(Type.Null()), { data: undefined, time: '', reqId: '' })).toMatchObject({
      data: null,
    })
  })

  test('takes the schema of every contract', () => {
    for (const { reply, name } of allContracts) {
      if ('schema' in reply) expect(() => compileSerializer(reply.schema), name).not.toThrow()
    }
    for (const schema of [Action, FileView]) expect(compileSerializer(schema)).toBeTypeOf('function')
  })

  test('refuses a schema that it does not know', () => {
    expect(() => compileSerializer({ type: 'date' } as TSchema)).toThrow(TypeError)
  })
})
