import type { RtdbComputed } from '@kith/protocol'

/** A value as it is written: in its place, and inside of it, there may be values that the server computes. */
type WrittenValue<Value> =
  | RtdbComputed
  | (Value extends object ? { readonly [Member in keyof Value]: WrittenValue<Value[Member]> } : Value)

/** A whole document as it is written. */
export type Written<Document extends object> = {
  readonly [Field in keyof Document]: WrittenValue<Document[Field]>
}

/** Some fields of a document: `null` removes one that may be absent, and a name with dots, such as `'address.city'`, is of what is inside
 * of a field. */
export type Changes<Document extends object> = {
  readonly [Field in keyof Document]?:
    | WrittenValue<Document[Field]>
    | (undefined extends Document[Field] ? null : never)
} & { readonly [Path in `${keyof Document & string}.${string}`]?: unknown }
