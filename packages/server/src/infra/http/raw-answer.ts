import { STATUS_CODES } from 'node:http'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { Failure } from '#lib/failure.ts'
import { errorText } from './answer.ts'
import { requestIdOf } from './exchange.ts'

/** The whole text of an answer to a request that never got as far as a response object; the connection ends with it. */
export function rawAnswer(
  clock: Clock,
  { status, failure }: { readonly status: number; readonly failure: Failure },
): string {
  const reqId = requestIdOf(undefined)
  const body = errorText(failure, nowSecs(clock), reqId)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Referrer-Policy: strict-origin-when-cross-origin',
    `X-Request-Id: ${reqId}`,
    ...(failure.retryAfterSecs === undefined ? [] : [`Retry-After: ${failure.retryAfterSecs}`]),
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
