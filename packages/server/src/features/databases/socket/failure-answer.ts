import type { ErrorCode, RtdbAnswers, RtdbErrorCode } from '@kith/protocol'
import { Failure } from '#lib/failure.ts'
import { RtdbFailure } from '../engine/rtdb-failure.ts'

const codes: Partial<Record<ErrorCode, RtdbErrorCode>> = {
  'E-AUTH-UNAUTH': 403,
  'E-AUTH-FORBIDDEN': 403,
  'E-NOTFOUND': 404,
  'E-QUOTA': 413,
  'E-RATELIMIT': 429,
}

/** What a client is told about a request that failed. `isUnexpected` when that is nothing that it could know. */
export function failureAnswer(error: unknown): {
  readonly answer: RtdbAnswers['error']
  readonly isUnexpected: boolean
} {
  if (error instanceof RtdbFailure) {
    const { code, message, details } = error
    return { answer: { code, message, ...(details && { details }) }, isUnexpected: code === 500 }
  }
  const code = error instanceof Failure ? codes[error.code] : undefined
  if (code !== undefined)
    return { answer: { code, message: (error as Failure).message }, isUnexpected: false }
  return { answer: { code: 500, message: 'the server could not do this' }, isUnexpected: true }
}
