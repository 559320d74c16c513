import type { IncomingMessage } from 'node:http'

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

const maxHostLength = 260
const hostForm = /^(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?)(?::\d{0,5})?$/i

/** A host name or an address, perhaps with a port. */
function isHost(text: string): boolean {
  return text.length <= maxHostLength && hostForm.test(text)
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}
