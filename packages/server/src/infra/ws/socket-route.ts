import type { ErrorCode, SocketClose, SocketContract } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { AdmissionHooks, Proof } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import type { LiveSocket, SocketHandler } from './live-socket.ts'

/** What the application provides for sockets. */
export interface SocketHooks<Credential> extends AdmissionHooks<Credential> {
  /** Which of these credentials have ended: asked every few seconds for all open sockets together. */
  listEnded(credentials: readonly Credential[]): Promise<ReadonlySet<Credential>>
  /** Which of these tenants are suspended or gone: for clients without a credential. */
  listEndedTenants(tenantIds: readonly TenantId[]): Promise<ReadonlySet<TenantId>>
}

/** A contract bound to the code that speaks its protocol. */
export interface SocketRoute<Credential> {
  readonly contract: SocketContract
  /** Accepts a client that meets the contract and answers its handler, or throws a `SocketRefusal`. */
  open(visit: SocketVisit<Credential>): SocketHandler | Promise<SocketHandler>
  /** Which of these visits of this route are to be closed now, and how; called whenever credentials are checked again. */
  review?(
    visits: readonly SocketVisit<Credential>[],
  ): Promise<ReadonlyMap<SocketVisit<Credential>, SocketClose>>
}

/** A socket with its client, as long as it lives. */
export interface SocketVisit<Credential> {
  readonly tenant: Tenant
  readonly socket: LiveSocket
  readonly params: Readonly<Record<string, unknown>>
  readonly query: URLSearchParams
  /** Of the client, as limits count it (IPv6 by its /64). */
  readonly address: string
  /** What the client asked for. `read`: less than its right; `write`: no socket without the right to write. */
  readonly access: 'read' | 'write' | undefined
  /** The current proof: a client may send a new one. */
  readonly proof: Proof<Credential>
  /** Checks a new bearer. Throws `E-AUTH-UNAUTH` when it is invalid, `E-AUTH-FORBIDDEN` when the contract does not admit it. */
  authenticate(bearer: string): Promise<Proof<Credential>>
  /** Replaces the proof of the socket. */
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

const closes: Partial<Record<ErrorCode, SocketClose>> = {
  'E-AUTH-UNAUTH': 'unauthenticated',
  'E-AUTH-FORBIDDEN': 'forbidden',
  'E-RATELIMIT': 'overloaded',
}

/** The close code for a failure that HTTP would have answered; undefined for unexpected errors. */
export function closeOf(error: unknown): SocketClose | undefined {
  if (error instanceof SocketRefusal) return error.why
  return error instanceof Failure ? closes[error.code] : undefined
}
