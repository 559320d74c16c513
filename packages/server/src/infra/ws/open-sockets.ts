import { maxMessageBytes } from '@kith/protocol'
import type { WebSocketServer } from 'ws'
import { idTagOf } from '#infra/caller/index.ts'
import {
  type HttpLogger,
  type RateLimits,
  type RawRoute,
  rateKeyOf,
  type UpgradeVisit,
} from '#infra/http/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { admitUpgrade, notSpoken } from './admit-upgrade.ts'
import { LiveSocket } from './live-socket.ts'
import { defaultSocketLimits, type SocketLimits, SocketRoom } from './socket-room.ts'
import { type SocketHooks, SocketRefusal, type SocketRoute } from './socket-route.ts'
import { Visit } from './visit.ts'

export interface SocketsOptions<Credential> {
  readonly routes: readonly SocketRoute<Credential>[]
  readonly hooks: SocketHooks<Credential>
  readonly rateLimits: RateLimits
  readonly clock: Clock
  readonly logger: HttpLogger
  readonly limits?: SocketLimits
}

/** The WebSockets of a server. */
export interface Sockets {
  /** For the HTTP server: their paths. */
  readonly rawRoutes: readonly RawRoute[]
  /** Looks again at what all open sockets rest on: for when something has been revoked. */
  review(): Promise<void>
  readonly size: number
  /** Ends all (1012) and lets nobody in any more. */
  stop(): Promise<void>
}

/** Opens nothing yet: the library is loaded with the first upgrade. */
export function openSockets<Credential>(options: SocketsOptions<Credential>): Sockets {
  return new SocketServer(options)
}

class SocketServer<Credential> implements Sockets {
  readonly rawRoutes: readonly RawRoute[]
  readonly #options: SocketsOptions<Credential>
  readonly #room: SocketRoom
  readonly #visits = new Map<LiveSocket, Visit<Credential>>()
  #acceptor: Promise<WebSocketServer> | undefined
  #isStopping = false
  #hasFailed = false

  constructor(options: SocketsOptions<Credential>) {
    const { routes, clock, limits = defaultSocketLimits } = options
    this.#options = options
    this.#room = new SocketRoom({ clock, limits, review: () => this.#reviewAll() })
    this.rawRoutes = routes.map((route) => ({
      ...notSpoken(route.path, options),
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

  async #accept(
    route: SocketRoute<Credential>,
    { request, connection, head, peer, params }: UpgradeVisit,
  ): Promise<void> {
    const { rateLimits, clock, hooks } = this.#options
    const address = rateKeyOf(peer.ip)
    const isWelcome = () => !this.#isStopping
    const room = this.#room
    const tenant = await admitUpgrade({ rateLimits, clock, hooks, room, isWelcome }, request, {
      ...peer,
      address,
    })
    this.#acceptor ??= loadAcceptor()
    const acceptor = await this.#acceptor
    if (connection.destroyed || !isWelcome()) throw new Failure('E-UNAVAILABLE')
    acceptor.handleUpgrade(request, connection, head, (accepted) => {
      const socket = new LiveSocket(accepted, {
        ...route,
        clock,
        onError: (error) => this.#onError(error, route),
        onGone: () => {
          this.#room.remove(socket)
          this.#visits.delete(socket)
        },
      })
      socket.watchFrames(connection)
      this.#room.add(socket, address)
      void this.#welcome(
        route,
        new Visit(this.#options.hooks, { tenant, socket, params, request, ip: peer.ip }),
        address,
      )
    })
  }

  /** Everything from here on is told by a close: browsers see no other answer. */
  async #welcome(route: SocketRoute<Credential>, visit: Visit<Credential>, address: string): Promise<void> {
    const { socket } = visit
    try {
      if (this.#room.isCrowded(address)) throw new SocketRefusal('overloaded')
      await this.#identify(visit, address)
      const caller = idTagOf(visit.proof.caller)
      if (caller !== undefined && !this.#room.claim(socket, `${visit.tenant.tenantId} ${caller}`))
        throw new SocketRefusal('overloaded')
      this.#visits.set(socket, visit)
      const handler = await route.open(visit)
      if (socket.isGone) this.#visits.delete(socket)
      socket.handleWith(handler)
    } catch (error) {
      if (error instanceof SocketRefusal) socket.close(error.why)
      else if (error instanceof Failure && error.code === 'E-AUTH-UNAUTH') socket.close('unauthenticated')
      else {
        this.#onError(error, route)
        socket.close('failed')
      }
    }
  }

  async #identify(visit: Visit<Credential>, address: string): Promise<void> {
    const { bearer } = visit
    if (bearer === undefined) return
    try {
      visit.renew(await visit.authenticate(bearer))
    } catch (error) {
      if (error instanceof Failure && error.code === 'E-AUTH-UNAUTH')
        await this.#options.rateLimits.take('bad-bearer', address)
      throw error
    }
  }

  async #reviewAll(): Promise<void> {
    const visits = [...this.#visits.values()]
    const credentials = visits.flatMap(({ proof }) => proof.credential ?? [])
    try {
      const ended = await this.#options.hooks.listEnded(credentials)
      this.#hasFailed = false
      for (const { proof, socket } of visits)
        if (proof.credential !== undefined && ended.has(proof.credential)) socket.close('unauthenticated')
    } catch (error) {
      // The next look comes by itself; a database that is away must not end every socket.
      if (!this.#hasFailed)
        this.#options.logger.error({ err: error }, 'open sockets could not be looked at again')
      this.#hasFailed = true
    }
  }

  #onError(error: unknown, { path }: SocketRoute<Credential>): void {
    if (error instanceof Failure && error.cause === undefined) return
    this.#options.logger.error({ err: error, endpoint: path }, 'a socket failed unexpectedly')
  }
}

async function loadAcceptor(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws')
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
  })
}
