import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { Failure } from '#lib/failure.ts'
import { errorText } from './answer.ts'
import { requestIdOf } from './exchange.ts'

// For the client to read the answer while it still sends.
const farewellMs = 1_000

/** Ends a connection with a last text, and cuts it off where the client does not end its side soon. */
export function endWith(connection: Duplex, clock: Clock, text: string): void {
  connection.end(text)
  // What comes now is thrown away; unread it would hold the connection open.
  connection.on('error', () => undefined).resume()
  const cancel = clock.wakeAt(clock.now() + farewellMs, () => connection.destroy())
  connection.once('close', cancel)
}

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
