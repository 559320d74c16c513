import type { IncomingMessage } from 'node:http'

/** Whether the client already has the representation with this entity tag (`If-None-Match`, weak comparison). */
export function hasCurrent({ method, headers }: IncomingMessage, etag: string | undefined): boolean {
  const held = headers['if-none-match']
  if (etag === undefined || held === undefined || (method !== 'GET' && method !== 'HEAD')) return false
  const opaque = etag.replace(/^W\//, '')
  return held.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === opaque)
}
