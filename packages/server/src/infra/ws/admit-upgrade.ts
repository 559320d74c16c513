import { type IncomingMessage, STATUS_CODES } from 'node:http'
import { idTagOf, type Tenant } from '#infra/caller/index.ts'
import { assertRate, type RateLimits, type RawRoute, rateFailure } from '#infra/http/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { SocketRoom } from './socket-room.ts'
import type { SocketHooks } from './socket-route.ts'

export interface UpgradeDeps {
  readonly rateLimits: RateLimits
  readonly clock: Clock
  readonly hooks: Pick<SocketHooks<unknown>, 'findTenant' | 'authenticate'>
  readonly room: Pick<SocketRoom, 'hasRoomFor'>
  isWelcome(): boolean
}

// A client that is refused for the number of its sockets may try again when one of them has ended.
const crowdedSecs = 10

/** The tenant of an upgrade that may go on: what HTTP still answers is decided here. */
export async function admitUpgrade(
  deps: UpgradeDeps,
  request: IncomingMessage,
  { address, host, ip }: { readonly address: string; readonly host: string | undefined; readonly ip: string },
): Promise<Tenant> {
  const { rateLimits, clock, hooks, room, isWelcome } = deps
  if (!isWelcome()) throw new Failure('E-UNAVAILABLE')
  const verdict = await rateLimits.take('upgrade', address)
  const refusal = !verdict.isAllowed
    ? rateFailure(verdict, clock)
    : rateLimits.hasTooManyBadBearers(address)
      ? new Failure('E-RATELIMIT', { retryAfterSecs: crowdedSecs })
      : undefined
  const bearer = refusal && bearerOf(request, queryOf(request))
  if (refusal && bearer === undefined) throw refusal
  if (!room.hasRoomFor(address)) throw new Failure('E-RATELIMIT', { retryAfterSecs: crowdedSecs })
  const tenant = host === undefined ? undefined : await hooks.findTenant(host)
  if (!tenant) throw new Failure('E-PROFILE-NOTFOUND')
  if (refusal && bearer !== undefined) await assertOwnRate(deps, { tenant, bearer, ip, refusal })
  return tenant
}

/** Whoever proves to be somebody has a rate of their own, whatever others did from the same address. */
async function assertOwnRate(
  { rateLimits, clock, hooks }: UpgradeDeps,
  { refusal, ...presented }: { tenant: Tenant; bearer: string; ip: string; refusal: Failure },
): Promise<void> {
  const { caller } = await hooks.authenticate(presented).catch((error: unknown) => {
    throw error instanceof Failure && error.code === 'E-AUTH-UNAUTH' ? refusal : error
  })
  const idTag = idTagOf(caller)
  if (idTag === undefined) throw refusal
  await assertRate({ rateLimits, clock }, 'upgrade', idTag)
}

/** What stands behind the path of a request. */
export function queryOf({ url }: IncomingMessage): URLSearchParams {
  const [, query = ''] = /\?(.*)$/.exec(url ?? '') ?? []
  return new URLSearchParams(query)
}

/** The bearer of an upgrade: browsers can only put it into the query. */
export function bearerOf({ headers }: IncomingMessage, query: URLSearchParams): string | undefined {
  const header = /^bearer(?: +(\S*))? *$/i.exec(headers.authorization ?? '')
  return header ? (header[1] ?? '') : (query.get('token') ?? undefined)
}

const upgradeRequired = 426

/** The answer to a request that is none for a WebSocket. */
export function notSpoken(
  path: string,
  { hooks, clock }: { readonly hooks: Pick<UpgradeDeps['hooks'], 'findTenant'>; readonly clock: Clock },
): RawRoute {
  return {
    method: 'GET',
    path,
    async handle({ peer }) {
      if (peer.host === undefined || !(await hooks.findTenant(peer.host)))
        throw new Failure('E-PROFILE-NOTFOUND')
      const error = { code: 'E-VALIDATION', message: STATUS_CODES[upgradeRequired] }
      return {
        status: upgradeRequired,
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'cache-control': 'no-store',
          upgrade: 'websocket',
          connection: 'Upgrade',
        },
        body: JSON.stringify({ error, time: nowSecs(clock) }),
      }
    },
  }
}
