import { type ErrorCode, errorMessage, type ValidationIssue } from '@kith/protocol'

/** What a failure may carry: `message` and `details` are shown to the caller, `cause` is only logged. */
interface FailureOptions {
  readonly message?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
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
