import type { IncomingMessage } from 'node:http'
import { maxFrameBytes, maxMessageBytes, type SocketContract } from '@kith/protocol'
import type { WebSocket, WebSocketServer } from 'ws'
import { idTagOf } from '#infra/caller/index.ts'
import {
  type AdmissionDeps,
  admitCaller,
  admitToTenant,
  bearerOf,
  type Proof,
  type RawRoute,
  rateKeyOf,
  type UpgradeVisit,
} from '#infra/http/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { Failure } from '#lib/failure.ts'
import { Answers } from './answers.ts'
import { LiveSocket } from './live-socket.ts'
import { rejectUpgrade } from './not-spoken.ts'
import { defaultSocketLimits, OpenSocketSet, type SocketLimits } from './open-socket-set.ts'
import { Receiving } from './receiving.ts'
import { closeOf, type SocketHooks, SocketRefusal, type SocketRoute } from './socket-route.ts'
import { Turns } from './turns.ts'
import { tooManySockets, UpgradeCounting } from './upgrade-counting.ts'
import { Visit } from './visit.ts'

interface SocketsOptions<Credential> extends AdmissionDeps<Credential> {
  readonly routes: readonly SocketRoute<Credential>[]
  readonly hooks: SocketHooks<Credential>
  readonly logger: Pick<Logger, 'warn' | 'error'>
  readonly limits?: SocketLimits
  /** Of messages that are not handled yet, over all sockets. */
  readonly maxReceivedBytes?: number
}

// Takes some 10 ms; requests are served between turns when thousands of clients reconnect at once.
const upgradesPerTurn = 32

/** The WebSockets of a server. */
export interface Sockets {
  /** For the HTTP server: their paths. */
  readonly rawRoutes: readonly RawRoute[]
  /** Checks the credentials of all open sockets again, after a revocation. */
  review(): Promise<void>
  readonly size: number
  /** Closes all sockets (1012) and refuses upgrades. */
  stop(): Promise<void>
}

/** Opens nothing yet: the library is loaded with the first upgrade. */
export function openSockets<Credential>(options: SocketsOptions<Credential>): Sockets {
  return new SocketServer(options)
}

class SocketServer<Credential> implements Sockets {
  readonly rawRoutes: readonly RawRoute[]
  readonly #options: SocketsOptions<Credential>
  readonly #room: OpenSocketSet
  readonly #receiving: Receiving
  readonly #answers: Answers
  readonly #turns = new Turns(upgradesPerTurn)
  readonly #visits = new Map<LiveSocket, Visit<Credential>>()
  // Whose route has let them in. As many as there are sockets.
  readonly #opened = new Map<Visit<Credential>, SocketRoute<Credential>>()
  // One for each bound of message sizes; bounded by the routes.
  readonly #acceptors = new Map<number, Promise<WebSocketServer>>()
  #isStopping = false
  #hasFailed = false

  constructor(options: SocketsOptions<Credential>) {
    const { routes, clock, limits = defaultSocketLimits } = options
    this.#options = options
    this.#answers = new Answers(clock)
    this.#receiving = new Receiving(options.maxReceivedBytes)
    this.#room = new OpenSocketSet({
      clock,
      limits,
      review: () => this.#reviewAll(),
      tick: () => {
        this.#receiving.tick()
        this.#answers.tick()
      },
    })
    this.rawRoutes = routes.map((route) => ({
      ...rejectUpgrade(route.contract, options),
      upgrade: { protocol: 'websocket', take: (visit) => this.#accept(route, visit) },
    }))
  }

  get size(): number {
    return this.#room.size
  }

  review(): Promise<void> {
    return this.#room.size === 0 ? Promise.resolve() : this.#room.review()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#room.empty('restarting')
  }

  /** What HTTP still answers, then the upgrade. */
  async #accept(route: SocketRoute<Credential>, upgrade: UpgradeVisit): Promise<string> {
    const { contract } = route
    const { request, connection, head, peer, params } = upgrade
    await this.#turns.take()
    const address = rateKeyOf(peer.ip)
    this.#assertWelcome()
    const query = queryOf(request)
    const bearer = bearerOf(request.headers, query.get('token'))
    // Routes are given the query, and must not see the token.
    query.delete('token')
    const counting = await UpgradeCounting.of(this.#options, address)
    if (!this.#room.hasRoomFor(address)) throw tooManySockets()
    const tenant = await admitToTenant(this.#options, contract, { ...peer, bearer }, counting)
    if (!tenant) throw new Failure('E-PROFILE-NOTFOUND')
    const identify = () => admitCaller(this.#options, contract, { tenant, ip: peer.ip, bearer }, counting)
    const proof = counting.isRefusing ? await identify() : undefined
    const acceptor = await this.#acceptorFor(contract)
    if (connection.destroyed) return tenant.idTag
    this.#assertWelcome()
    acceptor.handleUpgrade(request, connection, head, (accepted) => {
      const socket = this.#open(route, accepted, address)
      socket.watchFrames(connection, contract.largest?.frameBytes ?? maxFrameBytes)
      const at = { tenant, socket, params, query, address, ip: peer.ip }
      const visit = new Visit(this.#options.hooks, contract, at)
      void this.#welcome(route, visit, { address, identify: async () => proof ?? (await identify()) })
    })
    return tenant.idTag
  }

  #acceptorFor({ largest }: SocketContract): Promise<WebSocketServer> {
    const maxPayload = largest?.messageBytes ?? maxMessageBytes
    const known = this.#acceptors.get(maxPayload)
    if (known) return known
    const made = loadAcceptor(maxPayload)
    this.#acceptors.set(maxPayload, made)
    return made
  }

  #assertWelcome(): void {
    if (this.#isStopping) throw new Failure('E-UNAVAILABLE')
  }

  #open(route: SocketRoute<Credential>, accepted: WebSocket, address: string): LiveSocket {
    const socket = new LiveSocket(accepted, {
      contract: route.contract,
      receiving: this.#receiving,
      answers: this.#answers,
      clock: this.#options.clock,
      onError: (error) => this.#onError(error, route),
      onGone: () => {
        this.#room.remove(socket)
        const visit = this.#visits.get(socket)
        this.#visits.delete(socket)
        if (visit) this.#opened.delete(visit)
      },
    })
    this.#room.add(socket, address)
    return socket
  }

  /** After the upgrade every refusal is a close frame: browsers do not show HTTP answers. */
  async #welcome(
    route: SocketRoute<Credential>,
    visit: Visit<Credential>,
    { address, identify }: { readonly address: string; identify(): Promise<Proof<Credential>> },
  ): Promise<void> {
    const { socket } = visit
    try {
      if (this.#room.isCrowded(address)) throw new SocketRefusal('overloaded')
      visit.renew(await identify())
      const caller = idTagOf(visit.proof.caller)
      if (caller !== undefined && !this.#room.claim(socket, `${visit.tenant.tenantId} ${caller}`))
        throw new SocketRefusal('overloaded')
      this.#visits.set(socket, visit)
      const handler = await route.open(visit)
      if (!socket.isGone) this.#opened.set(visit, route)
      else this.#visits.delete(socket)
      socket.handleWith(handler)
    } catch (error) {
      const why = closeOf(error)
      if (why === undefined) this.#onError(error, route)
      socket.close(why ?? 'failed')
    }
  }

  /** A route whose review fails is reviewed again the next time; the others are reviewed all the same. */
  async #reviewAll(): Promise<void> {
    const results = await Promise.allSettled([
      this.#reviewCredentials(),
      ...this.#options.routes.map((route) => this.#reviewRoute(route)),
    ])
    const failed = results.find((result) => result.status === 'rejected')
    // A database that is away must not end every socket.
    if (failed && !this.#hasFailed)
      this.#options.logger.error({ err: failed.reason }, 'open sockets could not be looked at again')
    this.#hasFailed = failed !== undefined
  }

  async #reviewCredentials(): Promise<void> {
    const visits = [...this.#visits.values()]
    const credentials = visits.flatMap(({ proof }) => proof.credential ?? [])
    const withoutOne = visits.filter(({ proof }) => proof.credential === undefined)
    const { hooks } = this.#options
    const [ended, endedTenants] = await Promise.all([
      hooks.listEnded(credentials),
      hooks.listEndedTenants([...new Set(withoutOne.map(({ tenant }) => tenant.tenantId))]),
    ])
    for (const { proof, socket } of visits)
      if (proof.credential !== undefined && ended.has(proof.credential)) socket.close('unauthenticated')
    for (const { tenant, socket } of withoutOne)
      if (endedTenants.has(tenant.tenantId)) socket.close('notFound')
  }

  async #reviewRoute(route: SocketRoute<Credential>): Promise<void> {
    const visits = [...this.#opened].flatMap(([visit, from]) =>
      from === route && visit.socket.isOpen ? [visit] : [],
    )
    if (visits.length === 0) return
    const closes = await route.review?.(visits)
    for (const [{ socket }, why] of closes ?? []) socket.close(why)
  }

  #onError(error: unknown, { contract }: SocketRoute<Credential>): void {
    if (error instanceof Failure && error.cause === undefined) return
    this.#options.logger.error({ err: error, endpoint: contract.path }, 'a socket failed unexpectedly')
  }
}

/** The query string of a request. */
function queryOf({ url }: IncomingMessage): URLSearchParams {
  const [, query = ''] = /\?(.*)$/.exec(url ?? '') ?? []
  return new URLSearchParams(query)
}

async function loadAcceptor(maxPayload: number): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws')
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    autoPong: false,
    perMessageDeflate: false,
    maxPayload,
  })
}
