import type { IdTag } from '@kith/protocol'
import { Problem } from './variable.ts'

/** Where tenants are reached: an origin in which `{idTag}` and `{port}` are still open. */
export interface PublicUrl {
  readonly template: string
  /** False: the base tenant alone is served. */
  readonly servesEveryTenant: boolean
}

/** The origin of a tenant, once the port is known that the server listens on. */
export function publicUrlOf(publicUrl: PublicUrl, idTag: IdTag, port: number): string {
  return new URL(fill(publicUrl.template, idTag, port)).origin
}

/** The one host of a server that serves its base tenant alone. */
export function soleHostOf(publicUrl: PublicUrl, baseIdTag: IdTag): string | undefined {
  return publicUrl.servesEveryTenant ? undefined : new URL(publicUrlOf(publicUrl, baseIdTag, 0)).hostname
}

export function parsePublicUrl(text: string): PublicUrl | Problem {
  const example = fill(text, 'alice.example', 8080)
  const url = URL.canParse(example) ? new URL(example) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    return new Problem('must be an http or https address')
  if (
    url.pathname !== '/' ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username !== '' ||
    url.password !== ''
  )
    return new Problem('must end after the host and the port')
  const servesEveryTenant = text.includes('{idTag}')
  // A tenant is chosen by the request's host, so a name around {idTag} would reach none.
  if (servesEveryTenant && url.hostname !== 'alice.example')
    return new Problem('must have {idTag} as its whole host name, or not at all')
  return { template: text.replace(/\/$/, ''), servesEveryTenant }
}

function fill(template: string, idTag: string, port: number): string {
  return template.replaceAll('{idTag}', idTag).replaceAll('{port}', String(port))
}
