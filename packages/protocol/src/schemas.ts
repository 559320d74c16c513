import Type, { type TSchema, type TUnsafe } from 'typebox'
import { type Decoding, decodeKeyword } from './decoding.ts'
import type { ActionId, FileId, IdTag, RefId, VariantId } from './ids.ts'
import type { UnixSeconds } from './timestamps.ts'

/** A schema whose input a caller may spell in other ways (`Input`) than the handler receives it (`Value`). */
export interface TDecoded<Value, Input> extends TUnsafe<Value> {
  /** Exists for the type checker alone. */
  readonly '~input': Input
}

/* @__NO_SIDE_EFFECTS__ */
function Decoded<Value, Input = string>(schema: TSchema): TDecoded<Value, Input> {
  return Type.Unsafe<Value>(schema) as TDecoded<Value, Input>
}

/** Input: an identity in any spelling, and what it is here; the handler receives the canonical form. */
/* @__NO_SIDE_EFFECTS__ */
export function IdTagOf(description: string) {
  return Decoded<IdTag>({
    type: 'string',
    minLength: 3,
    maxLength: 1024,
    [decodeKeyword]: 'idTag' satisfies Decoding,
    description,
    examples: ['alice.example.com'],
  })
}

/** Input: an identity in any spelling; the handler receives the canonical form. */
export const IdTagInput = IdTagOf('An identity: a DNS name of at least two labels')

/** Input: ISO 8601 with a zone, or Unix seconds; the handler receives Unix seconds. */
export const TimestampInput = Decoded<UnixSeconds, UnixSeconds | string | Date>({
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  [decodeKeyword]: 'timestamp' satisfies Decoding,
  description: 'ISO 8601 with a zone, or Unix seconds (milliseconds are refused)',
  examples: ['2026-01-31T12:00:00Z', 1769860800],
})

/** Input: the same for a moment of the world, which may be before 1970. */
export const WorldTimeInput = Decoded<UnixSeconds, UnixSeconds | string | Date>({
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  [decodeKeyword]: 'worldTime' satisfies Decoding,
  description:
    'ISO 8601 with a zone, or Unix seconds (milliseconds are refused), from the year 1 on; negative before 1970',
  examples: ['1954-07-04T15:30:00Z', -488968200],
})

// Text that has not the form of an id is answered like an unknown id, so these never fail as invalid.
/* @__NO_SIDE_EFFECTS__ */
function IdParam<Id extends string>(decoding: Decoding, description: string, example: string) {
  return Decoded<Id>({ type: 'string', [decodeKeyword]: decoding, description, examples: [example] })
}
const exampleHash = 'A'.repeat(43)

/** Path parameter: a file id; one in a bad form answers `E-FILE-NOTFOUND`. */
export const FileIdParam = IdParam<FileId>('fileId', 'The id of a file', `b1~${exampleHash}`)
/** Path parameter: a variant id; one in a bad form answers `E-FILE-NOTFOUND`. */
export const VariantIdParam = IdParam<VariantId>(
  'variantId',
  'The id of a variant of a file',
  `b1~${exampleHash}~tn`,
)
/** Path parameter: an action id; one in a bad form answers `E-ACTION-NOTFOUND`. */
export const ActionIdParam = IdParam<ActionId>('actionId', 'The id of an action', `a1~${exampleHash}`)
/** Path parameter: an identity in any spelling; one in a bad form answers `E-PROFILE-NOTFOUND`. */
export const ProfileParam = IdParam<IdTag>(
  'profileName',
  'An identity: a DNS name of at least two labels',
  'alice.example.com',
)
/** Path parameter: a domain in any spelling, and what it is here; one in a bad form answers `E-NOTFOUND`. */
/* @__NO_SIDE_EFFECTS__ */
export function DomainParam(description: string) {
  return IdParam<IdTag>('domainName', description, 'alice.example.com')
}
/** Path parameter: a reference id; one in a bad form answers `E-NOTFOUND`. */
export const RefIdParam = IdParam<RefId>('refId', 'The id of a reference', '0123456789ABCDEFabcdefgh')

/** Query input: words separated by commas; the handler receives the list, without empty words. */
/* @__NO_SIDE_EFFECTS__ */
export function CommaList<Word extends string = string>(words?: readonly Word[]) {
  return Decoded<Word[], string | readonly Word[]>({
    type: 'string',
    maxLength: 16_384,
    [decodeKeyword]: 'commaList' satisfies Decoding,
    ...(words ? { 'x-words': words } : {}),
    description: words ? `Comma list of ${words.join(', ')}` : 'Comma list',
  })
}

/* @__NO_SIDE_EFFECTS__ */
export function Words<Word extends string>(words: readonly Word[], options: { description?: string } = {}) {
  return Type.Unsafe<Word>({ type: 'string', enum: [...words], ...options })
}

/** Output: ISO 8601 UTC. */
export const IsoTime = Type.String({ description: 'ISO 8601, UTC', examples: ['2026-01-31T12:00:00.000Z'] })
/** Output: Unix seconds. */
export const UnixTime = Type.Integer({ description: 'Unix seconds', examples: [1769860800] })

/* @__NO_SIDE_EFFECTS__ */
export function Nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** Free JSON object. */
export const JsonObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

/** What every list takes; `_limit` and `_offset` are aliases (docs/protocol/conventions.md, Lists). */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: 20, description: 'Items on a page' }),
  ),
  cursor: Type.Optional(Type.String({ description: 'Opaque; `nextCursor` of the page before' })),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Deprecated: use `cursor`' }),
  ),
}

/** The largest offset where the caller may read few of many rows; `total` counts up to the end of a page from there. */
export const maxOffset = 10_000
export const maxTotal = maxOffset + 200

/** The same for lists of which the caller is shown what it may read: each row that is counted was looked at. */
export const filteredPageQuery = {
  ...pageQuery,
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxOffset,
      description: `Deprecated: use \`cursor\`. \`pagination.total\` counts up to ${maxTotal}`,
    }),
  ),
}

export const sortDirection = Words(['asc', 'desc'], { description: '`asc`: smallest or oldest first' })
