import type { SocketClose } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { LiveSocket, SocketHandler } from './live-socket.ts'

/** Who is at the other end, and what proved it; `Credential` is what the application can look at again later. */
export interface Proof<Credential> {
  readonly caller: Caller
  /** Undefined for guests. */
  readonly credential: Credential | undefined
}

/** What the sockets ask of the application. */
export interface SocketHooks<Credential> {
  findTenant(host: string): Promise<Tenant | undefined>
  /** Throws `E-AUTH-UNAUTH` for a bearer that is not good on this tenant. */
  authenticate(presented: {
    readonly tenant: Tenant
    readonly bearer: string
    readonly ip: string
  }): Promise<Proof<Credential>>
  /** Which of these do not hold any more: asked every few seconds about all open sockets together. */
  listEnded(credentials: readonly Credential[]): Promise<ReadonlySet<Credential>>
}

/** A path on which a protocol is spoken. */
export interface SocketRoute<Credential> {
  /** With `{param}` placeholders. */
  readonly path: string
  readonly frames: 'text' | 'binary'
  readonly messagesPerMinute: number
  /** Lets a client in and answers who speaks with it, or throws a `SocketRefusal`. */
  open(visit: SocketVisit<Credential>): SocketHandler | Promise<SocketHandler>
}

/** A socket with its client, as long as it lives. */
export interface SocketVisit<Credential> {
  readonly tenant: Tenant
  readonly socket: LiveSocket
  readonly params: Readonly<Record<string, unknown>>
  readonly query: URLSearchParams
  /** What the client asked for: less than its right, or no socket at all without the right to write. */
  readonly access: 'read' | 'write' | undefined
  /** The present proof: a client may show a new one. */
  readonly proof: Proof<Credential>
  /** Looks at a new bearer. Throws `E-AUTH-UNAUTH` when it is none. */
  authenticate(bearer: string): Promise<Proof<Credential>>
  /** From now on the socket rests on this proof. */
  renew(proof: Proof<Credential>): void
}

/** Why a client is not let in. */
export class SocketRefusal extends Error {
  readonly why: SocketClose

  constructor(why: SocketClose) {
    super(`the socket is refused: ${why}`)
    this.name = 'SocketRefusal'
    this.why = why
  }
}
