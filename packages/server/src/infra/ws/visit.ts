import type { SocketContract } from '@kith/protocol'
import { guest } from '#infra/caller/index.ts'
import { type AdmissionHooks, admitAgain, type Proof } from '#infra/http/index.ts'
import type { SocketVisit } from './socket-route.ts'

type At<Credential> = Pick<SocketVisit<Credential>, 'tenant' | 'socket' | 'params' | 'query' | 'address'> & {
  readonly ip: string
}

/** A socket with its client, from the upgrade on. */
export class Visit<Credential> implements SocketVisit<Credential> {
  readonly tenant: SocketVisit<Credential>['tenant']
  readonly socket: SocketVisit<Credential>['socket']
  readonly params: SocketVisit<Credential>['params']
  readonly query: URLSearchParams
  readonly address: string
  readonly access: 'read' | 'write' | undefined
  readonly #ip: string
  readonly #hooks: AdmissionHooks<Credential>
  readonly #contract: SocketContract
  #proof: Proof<Credential> = { caller: guest }

  constructor(hooks: AdmissionHooks<Credential>, contract: SocketContract, at: At<Credential>) {
    this.#hooks = hooks
    this.#contract = contract
    this.#ip = at.ip
    this.tenant = at.tenant
    this.socket = at.socket
    this.params = at.params
    this.query = at.query
    this.address = at.address
    const access = at.query.get('access')
    this.access = access === 'read' || access === 'write' ? access : undefined
  }

  get proof(): Proof<Credential> {
    return this.#proof
  }

  authenticate(bearer: string): Promise<Proof<Credential>> {
    return admitAgain({ hooks: this.#hooks }, this.#contract, { tenant: this.tenant, bearer, ip: this.#ip })
  }

  renew(proof: Proof<Credential>): void {
    this.#proof = proof
  }
}
