import type { IdTag, ProxySiteConfig } from '@kith/protocol'
import type { Backend } from '#infra/proxy/index.ts'

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
    requestHeaders: byLowerName(config.requestHeaders),
    responseHeaders: byLowerName(config.responseHeaders),
    stripPrefix: config.stripPrefix,
  }
}

function byLowerName(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
