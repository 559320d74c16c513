import { type ErrorBody, type ErrorCode, errorMessage, errorStatus } from '@kith/protocol'

interface KithErrorParts {
  readonly code: ErrorCode
  readonly status: number
  readonly details?: Readonly<Record<string, unknown>> | undefined
  readonly reqId?: string | undefined
  readonly retryAfterSecs?: number | undefined
}

/** A request that the server answered with a failure. Where no answer comes at all, `fetch`’s own error is thrown. */
export class KithError extends Error {
  readonly code: ErrorCode
  readonly status: number
  /** By code, for instance `{issues: [{path, message}]}` of `E-VALIDATION`. */
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** Quote it when reporting a problem. */
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

/** What an answer with a status other than success says. */
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

/** For answers that are not the server’s: of a proxy in front of it. */
function codeFor(status: number): ErrorCode {
  const codes = Object.keys(errorStatus) as ErrorCode[]
  const general: readonly ErrorCode[] = ['E-NOTFOUND', 'E-AUTH-FORBIDDEN']
  const known =
    general.find((code) => errorStatus[code] === status) ?? codes.find((code) => errorStatus[code] === status)
  return known ?? (status >= 500 ? 'E-UNAVAILABLE' : 'E-VALIDATION')
}
