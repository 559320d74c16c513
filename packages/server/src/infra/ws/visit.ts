import type { IncomingMessage } from 'node:http'
import { guest, type Tenant } from '#infra/caller/index.ts'
import { bearerOf, queryOf } from './admit-upgrade.ts'
import type { LiveSocket } from './live-socket.ts'
import type { Proof, SocketHooks, SocketVisit } from './socket-route.ts'

/** A socket with its client, from the upgrade on. */
export class Visit<Credential> implements SocketVisit<Credential> {
  readonly tenant: Tenant
  readonly socket: LiveSocket
  readonly params: Readonly<Record<string, unknown>>
  readonly query: URLSearchParams
  readonly access: 'read' | 'write' | undefined
  readonly bearer: string | undefined
  readonly #ip: string
  readonly #hooks: SocketHooks<Credential>
  #proof: Proof<Credential> = { caller: guest, credential: undefined }

  constructor(
    hooks: SocketHooks<Credential>,
    {
      request,
      ip,
      ...at
    }: Pick<SocketVisit<Credential>, 'tenant' | 'socket' | 'params'> & {
      readonly request: IncomingMessage
      readonly ip: string
    },
  ) {
    this.#hooks = hooks
    this.#ip = ip
    this.tenant = at.tenant
    this.socket = at.socket
    this.params = at.params
    this.query = queryOf(request)
    const access = this.query.get('access')
    this.access = access === 'read' || access === 'write' ? access : undefined
    this.bearer = bearerOf(request, this.query)
    // It is read once; nobody who is given the query needs it.
    this.query.delete('token')
  }

  get proof(): Proof<Credential> {
    return this.#proof
  }

  authenticate(bearer: string): Promise<Proof<Credential>> {
    return this.#hooks.authenticate({ tenant: this.tenant, bearer, ip: this.#ip })
  }

  renew(proof: Proof<Credential>): void {
    this.#proof = proof
  }
}
