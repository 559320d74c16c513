import type { SecureContext, Server } from 'node:tls'

/** A certificate with those above it, and its private key, as PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** Where a listener for TLS finds its certificates. */
export interface Certificates {
  /** For a name that a client asks for, in lower case; undefined where there is none, which ends the handshake unless there
   * is a default. */
  find(name: string): Promise<SecureContext | undefined>
  /** Tells the certificate for every other handshake, now if there is one and whenever it changes. */
  onDefault(tell: (pair: KeyPair) => void): void
  /** Looks at the first bytes of connections, where some of them are not for HTTP. */
  watchHandshakes?(server: Server): void
}
