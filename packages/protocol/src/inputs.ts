import type { Static, TArray, TObject, TOptional, TProperties, TSchema, TUnion } from 'typebox'
import type { Contract } from './contract.ts'
import type { TDecoded } from './schemas.ts'

type OptionalKeys<Properties> = {
  [Key in keyof Properties]: Properties[Key] extends TOptional ? Key : never
}[keyof Properties]

type ObjectInput<Properties extends TProperties> = {
  readonly [Key in Exclude<keyof Properties, OptionalKeys<Properties>>]: InputOf<Properties[Key]>
} & {
  readonly [Key in OptionalKeys<Properties>]?: InputOf<Properties[Key]> | undefined
}

/** What a caller may send for a schema: any spelling of what is decoded, and nothing for what has a default. */
export type InputOf<Schema> =
  Schema extends TDecoded<unknown, infer Input>
    ? Input
    : Schema extends TObject<infer Properties>
      ? ObjectInput<Properties>
      : Schema extends TArray<infer Item extends TSchema>
        ? readonly InputOf<Item>[]
        : Schema extends TUnion<infer Branches>
          ? InputOf<Branches[number]>
          : Schema extends TSchema
            ? Static<Schema>
            : never

type Part<Name extends string, Schema> = Schema extends TSchema
  ? Record<never, never> extends InputOf<Schema>
    ? { readonly [Key in Name]?: InputOf<Schema> }
    : { readonly [Key in Name]: InputOf<Schema> }
  : Record<never, never>

type BodyPart<Body> = Body extends { kind: 'json'; schema: infer Schema }
  ? Body extends { optional: true }
    ? { readonly body?: InputOf<Schema> }
    : { readonly body: InputOf<Schema> }
  : Body extends { kind: 'jwt' }
    ? {
        readonly body: string | (Body extends { beside: infer Name extends string } ? TokenPair<Name> : never)
      }
    : Record<never, never>

type TokenPair<Name extends string> = { readonly token: string } & Readonly<Record<Name, string>>

/** All that a caller sends to an endpoint but bytes, by the contract's parts; parts without a required member may be
 * left out. */
export type RequestOf<C extends Contract> = Part<'params', C['params']> &
  Part<'query', C['query']> &
  Part<'headers', C['headers']> &
  BodyPart<C['body']>
