import { type ErrorBody, type ErrorCode, errorMessage, errorStatus } from '@kith/protocol'

interface KithErrorParts {
  readonly code: ErrorCode
  readonly status: number
  readonly details?: Readonly<Record<string, unknown>> | undefined
  readonly reqId?: string | undefined
  readonly retryAfterSecs?: number | undefined
}

/** The server answered a request with an error. Without any answer, the error of `fetch` is thrown instead. */
export class KithError extends Error {
  readonly code: ErrorCode
  readonly status: number
  /** Depends on `code`, for instance `{issues: [{path, message}]}` for `E-VALIDATION`. */
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** The id of the request in the server's log, for reports of problems. */
  readonly reqId: string | undefined
  readonly retryAfterSecs: number | undefined

  constructor(message: string, parts: KithErrorParts) {
    super(message)
    this.name = 'KithError'
    this.code = parts.code
    this.status = parts.status
    this.details = parts.details
    this.reqId = parts.reqId
    this.retryAfterSecs = parts.retryAfterSecs
  }
}

/** The error for an answer with a status outside 200–299. */
export function errorFrom(
  status: number,
  headerOf: (name: string) => string | null,
  text: string,
): KithError {
  const retryAfter = Number(headerOf('retry-after') ?? Number.NaN)
  const retryAfterSecs = Number.isFinite(retryAfter) ? retryAfter : undefined
  const body = parseErrorBody(text)
  if (body) {
    const { code, message } = body.error
    const details = body.error.details as KithErrorParts['details']
    return new KithError(message, {
      code: code as ErrorCode,
      status,
      details,
      reqId: body.reqId,
      retryAfterSecs,
    })
  }
  const code = codeFor(status)
  return new KithError(errorMessage[code], { code, status, retryAfterSecs })
}

function parseErrorBody(text: string): ErrorBody | undefined {
  try {
    const body: unknown = JSON.parse(text)
    const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
    const isOurs =
      typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    return isOurs ? (body as ErrorBody) : undefined
  } catch {
    return undefined
  }
}

/** A code for an answer without a Kith error body, for instance of a proxy in front of the server. */
function codeFor(status: number): ErrorCode {
  const codes = Object.keys(errorStatus) as ErrorCode[]
  const general: readonly ErrorCode[] = ['E-NOTFOUND', 'E-AUTH-FORBIDDEN']
  const known =
    general.find((code) => errorStatus[code] === status) ?? codes.find((code) => errorStatus[code] === status)
  return known ?? (status >= 500 ? 'E-UNAVAILABLE' : 'E-VALIDATION')
}
