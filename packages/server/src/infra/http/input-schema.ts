import { type Decoding, decodeKeyword } from '@kith/protocol'

/** The keywords of input schemas that say what becomes of a value. */
export interface Schema {
  readonly type?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, unknown>>
  readonly additionalProperties?: unknown
  readonly items?: Schema | readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly [decodeKeyword]?: Decoding
  readonly 'x-words'?: readonly string[]
}

export type Members = Record<string, unknown>

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The schema of every item of a list; undefined where they are not alike. */
export function itemOf({ items }: Schema): Schema | undefined {
  return Array.isArray(items) ? undefined : (items as Schema | undefined)
}
