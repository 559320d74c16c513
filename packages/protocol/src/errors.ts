/** Every error code of the protocol with its HTTP status (docs/protocol/conventions.md). Older clients know those above
 * the line. */
export const errorStatus = {
  'E-AUTH-UNAUTH': 401,
  'E-AUTH-BADCRED': 401,
  'E-AUTH-NOTVERIFIED': 403,
  'E-AUTH-FORBIDDEN': 403,
  'E-FILE-NOTFOUND': 404,
  'E-ACTION-NOTFOUND': 404,
  'E-PROFILE-NOTFOUND': 404,
  'E-PROFILE-EXISTS': 409,
  'E-VALIDATION': 400,
  'E-DUPLICATE': 409,
  'E-RATELIMIT': 429,
  // ── extensions ──
  'E-NOTFOUND': 404,
  'E-METHOD': 405,
  'E-STATE': 409,
  'E-GONE': 410,
  'E-PRECONDITION': 412,
  'E-TOOLARGE': 413,
  'E-MEDIATYPE': 415,
  'E-RANGE': 416,
  'E-QUOTA': 507,
  'E-UNAVAILABLE': 503,
  'E-INTERNAL': 500,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof errorStatus

/** The sentence shown to a person when the place that failed has nothing better to say. */
export const errorMessage: Record<ErrorCode, string> = {
  'E-AUTH-UNAUTH': 'Sign in to do this.',
  'E-AUTH-BADCRED': 'The identity or the password is wrong.',
  'E-AUTH-NOTVERIFIED': 'Confirm your e-mail address before signing in.',
  'E-AUTH-FORBIDDEN': 'You do not have the right to do this.',
  'E-FILE-NOTFOUND': 'There is no such file.',
  'E-ACTION-NOTFOUND': 'There is no such action.',
  'E-PROFILE-NOTFOUND': 'There is no such profile.',
  'E-PROFILE-EXISTS': 'This identity is taken.',
  'E-VALIDATION': 'The request is not valid.',
  'E-DUPLICATE': 'This exists already.',
  'E-RATELIMIT': 'Too many requests. Try again later.',
  'E-NOTFOUND': 'There is nothing here.',
  'E-METHOD': 'This address does not take that method.',
  'E-STATE': 'The present state does not allow this.',
  'E-GONE': 'This is used up or has expired.',
  'E-PRECONDITION': 'The request expects something of the server that does not hold.',
  'E-TOOLARGE': 'This is too large.',
  'E-MEDIATYPE': 'This content type is not taken here.',
  'E-RANGE': 'The requested range is not in the file.',
  'E-QUOTA': 'The storage is used up.',
  'E-UNAVAILABLE': 'Something this needs cannot be reached now. Try again later.',
  'E-INTERNAL': 'Something went wrong on the server.',
}

/** One thing that is wrong with a request: `path` is a JSON pointer (query parameters as `/query/NAME`). */
export interface ValidationIssue {
  readonly path: string
  readonly message: string
}

/** Why a credential or a signed token is refused: `details.reason` of the answer (docs/protocol/conventions.md, Answers). */
export type RefusalReason =
  | 'missing'
  | 'malformed'
  | 'expired'
  | 'revoked'
  | 'unknown-issuer'
  | 'key-unavailable'
  | 'bad-signature'
  | 'wrong-tenant'
  | 'scope'
