import { type ErrorCode, errorStatus } from '@kith/protocol'
import { Failure } from '#lib/failure.ts'
import { badAnswer } from './bad-answer.ts'

// What another server may say about a request. What it says about credentials is about the one that was made for it, and a 401
// would end the owner's session here.
const passedCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'E-AUTH-FORBIDDEN',
  'E-FILE-NOTFOUND',
  'E-ACTION-NOTFOUND',
  'E-PROFILE-NOTFOUND',
  'E-PROFILE-EXISTS',
  'E-VALIDATION',
  'E-DUPLICATE',
  'E-RATELIMIT',
  'E-NOTFOUND',
  'E-STATE',
  'E-GONE',
  'E-TOOLARGE',
  'E-MEDIATYPE',
  'E-RANGE',
  'E-PRECONDITION',
  'E-QUOTA',
  'E-UNAVAILABLE',
])
const byStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'E-AUTH-FORBIDDEN',
  403: 'E-AUTH-FORBIDDEN',
  404: 'E-NOTFOUND',
  412: 'E-PRECONDITION',
  413: 'E-TOOLARGE',
  429: 'E-RATELIMIT',
  503: 'E-UNAVAILABLE',
  507: 'E-QUOTA',
}

const maxMessage = 300
const maxIssues = 20
const maxRetryAfterSecs = 3600
// Markup, and characters that change how the text around them reads.
const notShown = /[<>\p{Cc}\p{Cf}]/u

/** What another server said went wrong, in our own codes. `body` is its JSON, if it is any. */
export function toldFailure(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): Failure {
  const { code: told, message, details } = errorOf(body)
  const isPassed =
    typeof told === 'string' && passedCodes.has(told) && errorStatus[told as ErrorCode] === status
  const code = isPassed ? (told as ErrorCode) : byStatus[status]
  if (!code) return badAnswer(`HTTP ${status}`)
  const shownDetails = isPassed ? detailsOf(code, details) : undefined
  const retryAfterSecs = retryAfterOf(status, headers['retry-after'])
  return new Failure(code, {
    ...(isPassed && isShown(message) ? { message } : {}),
    ...(shownDetails ? { details: shownDetails } : {}),
    ...(retryAfterSecs === undefined ? {} : { retryAfterSecs }),
  })
}

function errorOf(body: unknown): Readonly<Record<string, unknown>> {
  return asObject(asObject(body).error)
}

function isShown(text: unknown): text is string {
  return typeof text === 'string' && text.length > 0 && text.length <= maxMessage && !notShown.test(text)
}

/** What clients read of the details: what is wrong with a request, and the size where a range lies outside. */
function detailsOf(code: ErrorCode, details: unknown): Readonly<Record<string, unknown>> | undefined {
  const { issues, size } = asObject(details)
  if (code === 'E-RANGE' && Number.isSafeInteger(size) && Number(size) >= 0) return { size }
  if (code !== 'E-VALIDATION' || !Array.isArray(issues)) return undefined
  const shown = issues.slice(0, maxIssues).flatMap((issue) => {
    const { path, message } = asObject(issue)
    return (path === '' || isShown(path)) && isShown(message) ? [{ path, message }] : []
  })
  return shown.length > 0 ? { issues: shown } : undefined
}

function retryAfterOf(status: number, header: string | undefined): number | undefined {
  if (status !== 429 && status !== 503) return undefined
  if (header === undefined || !/^\d{1,9}$/.test(header)) return status === 429 ? 60 : undefined
  return Math.min(Math.max(1, Number(header)), maxRetryAfterSecs)
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
