import type { HeldCredential } from '#features/accounts/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Proof } from '#infra/http/index.ts'
import type { SocketVisit } from '#infra/ws/index.ts'
import { Failure } from '#lib/failure.ts'

/** The owner's socket as the target's host sees it, where the target is a tenant of this server. */
export class InnerVisit implements SocketVisit<HeldCredential> {
  readonly tenant: Tenant
  readonly socket: SocketVisit<HeldCredential>['socket']
  readonly params: SocketVisit<HeldCredential>['params']
  readonly query: URLSearchParams
  readonly address: string
  readonly access: 'read' | 'write' | undefined
  #proof: Proof<HeldCredential>

  constructor(
    outer: SocketVisit<HeldCredential>,
    tenant: Tenant,
    proof: Proof<HeldCredential>,
    access: 'read' | 'write' | undefined,
  ) {
    this.tenant = tenant
    this.socket = outer.socket
    this.params = outer.params
    this.query = outer.query
    this.address = outer.address
    this.access = access
    this.#proof = proof
  }

  get proof(): Proof<HeldCredential> {
    return this.#proof
  }

  /** Tokens of the owner's host are worth nothing at another; the socket lives as long as the session does. */
  async authenticate(): Promise<Proof<HeldCredential>> {
    throw new Failure('E-AUTH-FORBIDDEN')
  }

  renew(proof: Proof<HeldCredential>): void {
    this.#proof = proof
  }
}
