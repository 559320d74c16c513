import type { IdTag, ProxySiteConfig } from '@kith/protocol'
import { type Backend, headerKey, type SetHeaders } from '#infra/proxy/index.ts'

/** A domain whose requests this server passes on. */
export interface ProxySite {
  readonly siteId: number
  readonly domain: IdTag
  /** Scheme, host and port. */
  readonly backendUrl: string
  readonly status: 'A' | 'D'
  readonly type: 'basic' | 'advanced'
  readonly config: ProxySiteConfig
  readonly createdAt: number
  readonly updatedAt: number
}

export type NewProxySite = Omit<ProxySite, 'siteId'>

const defaults = { preserveHost: true, connectTimeoutSecs: 5, readTimeoutSecs: 60, websocket: true }

/** How the site's requests are passed on. */
export function backendOf({
  domain,
  backendUrl,
  config,
}: Pick<ProxySite, 'domain' | 'backendUrl' | 'config'>): Backend {
  const { preserveHost, connectTimeoutSecs, readTimeoutSecs, websocket } = { ...defaults, ...config }
  return {
    host: domain,
    origin: backendUrl,
    preservesHost: preserveHost,
    connectTimeoutMs: connectTimeoutSecs * 1000,
    readTimeoutMs: readTimeoutSecs * 1000,
    takesWebSockets: websocket,
    requestHeaders: byKey(config.requestHeaders),
    responseHeaders: byKey(config.responseHeaders),
    stripPrefix: config.stripPrefix,
  }
}

function byKey(headers: Readonly<Record<string, string>> = {}): SetHeaders {
  return new Map(Object.entries(headers).map((header) => [headerKey(header[0]), header]))
}
