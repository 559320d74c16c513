import type { IncomingMessage } from 'node:http'

/** The status with which a request is refused; undefined for a valid one. Prevents request smuggling: two servers must not
 * read a request as two different lengths (RFC 9112 section 6.1). */
export function faultOf({ method, headers, httpVersion }: IncomingMessage): 400 | 405 | 417 | undefined {
  const coding = headers['transfer-encoding']
  if (coding !== undefined) {
    const isPlain = coding.toLowerCase() === 'chunked' && httpVersion === '1.1'
    if (!isPlain || headers['content-length'] !== undefined) return 400
  }
  // An answer to TRACE would show what the proxy adds.
  if (method === 'TRACE' || method === 'CONNECT') return 405
  const hasExpectation = headers.expect !== undefined && httpVersion !== '1.0'
  return hasExpectation && headers.expect?.toLowerCase() !== '100-continue' ? 417 : undefined
}

/** Whether the visitor sends the body only when it is told to; one of HTTP/1.0 never does (RFC 9110 section 10.1.1). */
export function isWaiting({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion !== '1.0'
}

export function hasBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true
  const length = headers['content-length']
  return length !== undefined && Number(length) > 0
}
