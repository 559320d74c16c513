import type { Requirements, SocketContract } from '@kith/protocol'
import type { ClientOptions } from 'ws'
import type { Identified } from '#infra/caller/index.ts'
import {
  type AdmissionHooks,
  createMemoryRateLimits,
  defaultRateLimits,
  type Endpoint,
  type RateLimits,
} from '#infra/http/index.ts'
import {
  type Frame,
  openSockets,
  type SocketHandler,
  type SocketLimits,
  type SocketRoute,
  type SocketVisit,
} from '#infra/ws/index.ts'
import { Failure } from '#lib/failure.ts'
import { alice, callers, startHttpSite } from './http-site.ts'
import { SocketClient } from './socket-client.ts'
import { TestClock } from './test-clock.ts'

/** What a socket of a test rests on. */
export interface TestCredential {
  readonly bearer: string
}

export interface SocketSiteOptions {
  readonly frames?: 'text' | 'binary'
  readonly messagesPerMinute?: number
  readonly messageUnitBytes?: number
  readonly limits?: SocketLimits
  readonly maxReceivedBytes?: number
  readonly rates?: Partial<typeof defaultRateLimits>
  readonly trustedProxies?: readonly string[]
  readonly requirements?: Partial<Requirements>
  readonly hooks?: Partial<AdmissionHooks<TestCredential>>
  readonly endpoints?: readonly Endpoint[]
  readonly open?: SocketRoute<TestCredential>['open']
  readonly review?: SocketRoute<TestCredential>['review']
  readonly largest?: SocketContract['largest']
}

export const owner = callers.owner as Identified

/** A server with one path for WebSockets, which sends back what it gets. */
export async function startSocketSite(options: SocketSiteOptions = {}) {
  const clock = new TestClock()
  const ended = new Set<string>()
  const visits: SocketVisit<TestCredential>[] = []
  const rateLimits: RateLimits = createMemoryRateLimits(clock, { ...defaultRateLimits, ...options.rates })
  const logged: object[] = []
  const logger = {
    debug: () => undefined,
    warn: (fields: object, message: string) => logged.push({ ...fields, message }),
    error: (fields: object, message: string) => logged.push({ ...fields, message }),
  }
  const echo = (visit: SocketVisit<TestCredential>): SocketHandler => ({
    receive: (frame: Frame) => visit.socket.send(frame),
  })
  const { frames = 'text', messagesPerMinute = 1000, trustedProxies = [] } = options
  const hooks: AdmissionHooks<TestCredential> = {
    findTenant: async (host) => (host === alice.idTag ? alice : undefined),
    async authenticate({ bearer }) {
      const caller = callers[bearer]
      if (!caller) throw new Failure('E-AUTH-UNAUTH')
      return { caller, credential: { bearer } }
    },
    ...options.hooks,
  }
  const sockets = openSockets<TestCredential>({
    routes: [
      {
        contract: {
          name: 'echo',
          path: '/ws/echo/{name}',
          summary: 'What comes goes back',
          auth: 'optional',
          guests: true,
          frames,
          messagesPerMinute,
          ...(options.messageUnitBytes ? { messageUnitBytes: options.messageUnitBytes } : {}),
          ...(options.largest ? { largest: options.largest } : {}),
          ...options.requirements,
        },
        ...(options.review ? { review: options.review } : {}),
        open(visit) {
          visits.push(visit)
          return (options.open ?? echo)(visit)
        },
      },
    ],
    hooks: {
      ...hooks,
      async listEnded(credentials) {
        return new Set(credentials.filter(({ bearer }) => ended.has(bearer)))
      },
      async listEndedTenants(tenantIds) {
        return new Set(tenantIds.filter((tenantId) => ended.has(String(tenantId))))
      },
    },
    rateLimits,
    clock,
    logger,
    ...(options.limits ? { limits: options.limits } : {}),
    ...(options.maxReceivedBytes === undefined ? {} : { maxReceivedBytes: options.maxReceivedBytes }),
  })
  const site = await startHttpSite(options.endpoints ?? [], {
    hooks,
    rawRoutes: sockets.rawRoutes,
    rateLimits,
    clock,
    logger,
    trustedProxies,
  })
  return {
    ...site,
    clock,
    sockets,
    visits,
    ended,
    logged,
    connect: (path = '/ws/echo/room?token=owner', connectOptions: ClientOptions = {}) =>
      SocketClient.connect(site.port, alice.idTag, path, connectOptions),
    async close() {
      await sockets.stop()
      await site.close()
    },
  }
}

export type SocketSite = Awaited<ReturnType<typeof startSocketSite>>
