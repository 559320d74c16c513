import { type ErrorCode, errorMessage, type RefusalReason, type ValidationIssue } from '@kith/protocol'

/** What a failure may carry: `message` and `details` are shown to the caller, `cause` and `logged` are not. */
interface FailureOptions {
  readonly message?: string
  readonly details?: Readonly<Record<string, unknown>>
  /** Is logged as a warning. */
  readonly cause?: unknown
  /** Logged at `debug`, of a failure with `details.reason`. */
  readonly logged?: Readonly<Record<string, unknown>>
  /** Becomes `Retry-After`, in seconds. */
  readonly retryAfterSecs?: number
  /** Of `E-RATELIMIT`: how many the bucket takes that refused. */
  readonly limit?: number
  /** In the place of the status of the code: another server's answer made no sense. */
  readonly status?: 502
}

/** An expected failure, by its code in the protocol's table. Anything else that is thrown is a bug. */
export class Failure extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly logged: Readonly<Record<string, unknown>> | undefined
  readonly retryAfterSecs: number | undefined
  readonly limit: number | undefined
  readonly status: 502 | undefined

  constructor(code: ErrorCode, options: FailureOptions = {}) {
    super(
      options.message ?? errorMessage[code],
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.name = 'Failure'
    this.code = code
    this.details = options.details
    this.logged = options.logged
    this.retryAfterSecs = options.retryAfterSecs
    this.limit = options.limit
    this.status = options.status
  }
}

/** `E-VALIDATION` for one member: `path` is a JSON pointer into the body, or `/query/NAME`. */
export function invalid(path: string, message: string): Failure {
  const issues: ValidationIssue[] = [{ path, message }]
  return new Failure('E-VALIDATION', { details: { issues } })
}

/** `E-UNAVAILABLE`: the key with which a token is signed cannot be asked for now. */
export function keyUnavailable(options: Pick<FailureOptions, 'retryAfterSecs' | 'logged'> = {}): Failure {
  return new Failure('E-UNAVAILABLE', {
    ...options,
    details: { reason: 'key-unavailable' satisfies RefusalReason },
  })
}

/** `E-AUTH-UNAUTH` for a credential or a signed token, with the reason that its holder is told. */
export function unauthenticated(
  reason: RefusalReason,
  options: Pick<FailureOptions, 'logged'> = {},
): Failure {
  return new Failure('E-AUTH-UNAUTH', { ...options, details: { reason } })
}

/** `E-AUTH-FORBIDDEN` for a credential that lacks `scope`; without one, no scope of a credential is enough. */
export function tooNarrow(scope: string | undefined): Failure {
  return new Failure('E-AUTH-FORBIDDEN', { details: { reason: 'scope' satisfies RefusalReason, scope } })
}
