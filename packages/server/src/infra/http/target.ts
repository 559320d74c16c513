import type { IncomingMessage } from 'node:http'
import { isHost } from './peer.ts'

/** Brings a request into the one form that is routed: a path, and one host. False when it has no such form
 * (RFC 9112 section 3.2): with two hosts, server and proxy could each believe another one. */
export function normalizeTarget(request: IncomingMessage): boolean {
  const hosts = countHosts(request.rawHeaders)
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) return false
  if (hosts === 1 && !isHost(request.headers.host ?? '')) return false
  const url = request.url ?? ''
  if (url.startsWith('/') || (url === '*' && request.method === 'OPTIONS')) return true
  const absolute = /^https?:\/\/([^/?#@]+)(\/.*)?$/i.exec(url)
  if (!absolute || !isHost(absolute[1] ?? '')) return false
  request.headers.host = absolute[1]
  request.url = absolute[2] ?? '/'
  return true
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}
