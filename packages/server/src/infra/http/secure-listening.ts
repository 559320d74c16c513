import type { Certificates } from '#infra/tls/index.ts'
import type { Http2Sessions } from './http2-sessions.ts'
import type { Listener, NodeServer, NodeServerOptions } from './node-server.ts'

export interface OpenServer {
  readonly server: NodeServer
  /** Of HTTP/2, where it is spoken. */
  readonly sessions?: Http2Sessions
}

/** Makes servers that speak HTTP/2 and HTTP/1.1 over TLS. */
export interface SecureListening {
  open(listener: Listener, options: NodeServerOptions): OpenServer
}

/** Loads HTTP/2, whose 10 MB a server without TLS does not need. */
export async function secureListening(certificates: Certificates): Promise<SecureListening> {
  const { createSecureServer } = await import('./secure-server.ts')
  return { open: (listener, options) => createSecureServer(listener, { ...options, certificates }) }
}
