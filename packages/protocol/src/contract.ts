import type { Static, TObject, TSchema } from 'typebox'
import { type Decoding, decodeKeyword } from './decoding.ts'
import type { ErrorCode } from './errors.ts'
import type { RequiredRole } from './roles.ts'
import type { ScopeRequirement } from './scopes.ts'

/** What the caller must show. A bearer that is presented and bad is 401 whatever stands here. `personal`: the tenant's owner
 * with a token of a sign-in, or one minted from it; never an API key's. It is unscoped, unless `scope` or `unscoped` says
 * what else will do. */
type Authentication = 'none' | 'optional' | 'required' | 'personal'

/** Tight rate buckets beside the general one (docs/protocol/conventions.md, Bounds). */
const rateBuckets = [
  'general',
  'sign-in',
  'login-init',
  'recovery',
  'registration',
  'inbox',
  'inbox-sync',
  'qr',
  'reference',
  'idp',
] as const
export type RateBucket = (typeof rateBuckets)[number]

/** What a tenant's settings switch on. */
export type TenantFeature = 'idp'

/** What the request body is. `json` bodies may be absent when `optional`. */
export type RequestBody =
  | { readonly kind: 'json'; readonly schema: TSchema; readonly optional?: true }
  /** Raw bytes of any content type, or a multipart form whose part `file` holds them; of `mediaType` alone where it
   * stands. JSON is refused as raw bytes, with 415, or with 400 where `isJsonInvalid` is set. */
  | { readonly kind: 'bytes'; readonly mediaType?: string; readonly isJsonInvalid?: true }
  /** A compact JWS as text (`application/jwt`), or JSON `{token}`, where another may stand beside it under this name. */
  | { readonly kind: 'jwt'; readonly beside?: string }

/** How the answer is wrapped (docs/protocol/conventions.md, Answers).
 * `data`: `{data, time, reqId}`. `list`: the same with `cursorPagination`, or `pagination` when asked by offset.
 * `bare`: without envelope. `bytes`: a stream, or where it `redirects` the address of one. `empty`: 204. */
export type Reply =
  | { readonly kind: 'data' | 'list' | 'bare'; readonly status: 200 | 201; readonly schema: TSchema }
  | { readonly kind: 'bytes'; readonly status: 200; readonly redirects?: true }
  | { readonly kind: 'empty'; readonly status: 204 }

/** Authentication, scope, role and rate bucket that a request or a socket upgrade needs. */
export interface Requirements {
  readonly auth: Authentication
  /** The scope a narrowed token must have. Left out where no token is taken, where `unscoped` is set, or where a `personal`
   * token must not be narrowed at all. */
  readonly scope?: ScopeRequirement
  /** Only tokens without scope, or with `admin`: what manages credentials. `strictly`: not with `admin` either, where the
   * answer would be worth more than the token, or the token is not the caller's to end. */
  readonly unscoped?: true | 'strictly'
  /** Beside `personal` tokens, access tokens of the owner that are narrowed to single files. Whether it is one of these files is
   * for the use case. */
  readonly orFileToken?: true
  /** Reference guests (a token without an identity) may call this; they may not by default. */
  readonly guests?: true
  /** A key of a managed identity (`idp_…`) may call this; nowhere else is one taken. */
  readonly identityKeys?: true
  readonly role?: RequiredRole
  /** Beside who has the role, administrators of the server may do it on the base tenant's host. */
  readonly orAdmin?: true
  /** A bearer that is presented and bad makes a guest instead of a failure. */
  readonly ignoresBadBearer?: true
  /** Answers on every host of the server, whether or not a tenant lives there. */
  readonly anyHost?: true
  /** Answers on the host of a suspended tenant as on any other, so that it does not tell whether the tenant is suspended. */
  readonly whileSuspended?: true
  /** Part of what a tenant may not offer: then it answers 404 to every caller. */
  readonly feature?: TenantFeature
  readonly bucket?: RateBucket
  /** Owners may also call it at other identities' hosts, through the gateway of their own (docs/protocol/gateway.md).
   * `file-tokens`, of sockets: with a token for the one file of the path as well. */
  readonly gateway?: true | 'file-tokens'
}

/** An endpoint, as data: the router, the validator, the serializer, the OpenAPI document and the client are read
 * from it. */
export interface Contract extends Requirements {
  /** Operation id: a verb and a noun in camelCase, unique. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** May come as POST with its own method in `X-HTTP-Method-Override`, as tus has it. */
  readonly overridesPost?: true
  /** With `{param}` placeholders; a final `{param*}` takes the rest of the path. */
  readonly path: string
  /** Other paths that mean the same. The singular `/api/action`, `/api/file` are made by the router. */
  readonly aliases?: readonly string[]
  /** Heading in the documentation. */
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** The bearer may also stand in the query as `token`, so that an `<img>` works. */
  readonly queryToken?: true
  /** Sets the cookie of a browser session or takes it away; `used`: takes it in place of a bearer. No other endpoint reads or
   * sets a cookie. */
  readonly browserCookie?: 'set' | 'used'
  readonly params?: TObject
  readonly query?: TObject
  /** Other names of query parameters: alias to name. `_limit` and `_offset` are known to every list. */
  readonly queryAliases?: Readonly<Record<string, string>>
  readonly headers?: TObject
  readonly body?: RequestBody
  readonly reply: Reply
  /** Headers of every answer, failures included, and of that to OPTIONS. Names are lower-case. */
  readonly answerHeaders?: Readonly<Record<string, string>>
  /** Codes beyond those that follow from the rest (validation, authentication, role, rate limit, internal). */
  readonly errors: readonly ErrorCode[]
  readonly example?: {
    readonly params?: object
    readonly query?: object
    readonly body?: unknown
    readonly data?: unknown
  }
}

/** Declares an endpoint, keeping the literal types of its parts. */
/* @__NO_SIDE_EFFECTS__ */
export function contract<const C extends Contract>(definition: C): C {
  return definition
}

type StaticOr<Schema, Otherwise> = Schema extends TSchema ? Static<Schema> : Otherwise

export type ParamsOf<C extends Contract> = StaticOr<C['params'], Record<never, never>>
export type QueryOf<C extends Contract> = StaticOr<C['query'], Record<never, never>>
export type HeadersOf<C extends Contract> = StaticOr<C['headers'], Record<never, never>>
export type BodyOf<C extends Contract> = C['body'] extends {
  kind: 'json'
  schema: infer Schema extends TSchema
}
  ? C['body'] extends { optional: true }
    ? Static<Schema> | undefined
    : Static<Schema>
  : undefined

/** The payload that the handler answers and the client receives. */
export type DataOf<C extends Contract> = C['reply'] extends { schema: infer Schema extends TSchema }
  ? Static<Schema>
  : undefined

/** What a parameter whose text has not the form of its id answers, as an unknown id would. */
export const unknownIdCode: Partial<Record<Decoding, ErrorCode>> = {
  fileId: 'E-FILE-NOTFOUND',
  variantId: 'E-FILE-NOTFOUND',
  actionId: 'E-ACTION-NOTFOUND',
  refId: 'E-NOTFOUND',
  profileName: 'E-PROFILE-NOTFOUND',
  domainName: 'E-NOTFOUND',
}

function unknownIdCodes(contract: Contract): ErrorCode[] {
  const schemas: { [decodeKeyword]?: Decoding }[] = Object.values(contract.params?.properties ?? {})
  return schemas.flatMap((schema) => unknownIdCode[schema[decodeKeyword] ?? 'idTag'] ?? [])
}

const signInBuckets: ReadonlySet<RateBucket> = new Set(['sign-in', 'login-init', 'recovery', 'qr'])

/** Whether it serves signing in. A suspended tenant answers these with the reason. */
export function isForSigningIn({ bucket }: Pick<Requirements, 'bucket'>): boolean {
  return signInBuckets.has(bucket ?? 'general')
}

// A reference guest is refused wherever the contract does not let it in.
function isRefusable({ auth, guests, scope, unscoped, role }: Requirements): boolean {
  return auth !== 'none' && Boolean(scope || unscoped || role || !guests)
}

/** The codes that follow from the contract's other parts, and those it declares. */
export function failuresOf(contract: Contract): ErrorCode[] {
  const implied: ErrorCode[] = ['E-INTERNAL', 'E-RATELIMIT']
  if (contract.params || contract.query || contract.headers || contract.body) implied.push('E-VALIDATION')
  if (contract.body) implied.push('E-TOOLARGE', 'E-MEDIATYPE')
  implied.push(...unknownIdCodes(contract))
  if (contract.auth !== 'none') implied.push('E-AUTH-UNAUTH')
  const tellsSuspension = isForSigningIn(contract) && !contract.whileSuspended
  if (isRefusable(contract) || tellsSuspension) implied.push('E-AUTH-FORBIDDEN')
  if (!contract.anyHost) implied.push('E-PROFILE-NOTFOUND')
  if (contract.feature) implied.push('E-NOTFOUND')
  return [...new Set([...contract.errors, ...implied])].sort()
}
