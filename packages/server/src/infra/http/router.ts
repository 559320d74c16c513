import type { TenantFeature } from '@kith/protocol'
import FindMyWay, { type HTTPMethod } from 'find-my-way'
import type { Exchange } from './exchange.ts'
import type { Upgrade } from './raw-route.ts'

type Values = Readonly<Record<string, unknown>>

/** Parameters as the router and the query parser found them. */
export interface RawParameters {
  readonly params: Values
  readonly query: Values
}

const methods = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'] as const

/** What lives at a path, for the requests of one method. */
export interface Target {
  readonly method: Exclude<(typeof methods)[number], 'HEAD'>
  /** The pattern of its path, as the contract has it. */
  readonly route: string
  /** In the syntax of the router. */
  readonly urls: readonly string[]
  /** What stands in every answer. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Also takes requests that come as POST and name this method. */
  readonly overridesPost?: boolean | undefined
  /** The part of the server to which it belongs; it is there only for tenants that offer that. */
  readonly feature?: TenantFeature | undefined
  /** Answers a request; never rejects. */
  answer(exchange: Exchange, raw: RawParameters): void
  /** Takes over the connection of a request that asks for another protocol. */
  readonly upgrade?: Upgrade | undefined
}

/** A target, and how it was addressed. */
export interface Routed extends RawParameters {
  readonly target: Target
}

/** Every path of a server: for answers, for what is allowed where, and for upgrades. */
export interface Router {
  /** `malformed`: the address has no form that could be looked up. */
  find(method: string | undefined, url: string | undefined): Routed | 'malformed' | undefined
  /** The methods of an address, sorted; empty when nothing lives there. */
  methodsOf(url: string | undefined): string[]
  /** The part of the server to which an address belongs, if not to all tenants. */
  featureOf(url: string | undefined): TenantFeature | undefined
  /** What the targets of an address put into every answer. */
  headersOf(url: string | undefined): Readonly<Record<string, string>>
}

const maxParamLength = 4096

export function createRouter(targets: readonly Target[]): Router {
  const router = FindMyWay({ maxParamLength, onBadUrl: neverCalled })
  for (const target of targets) {
    const taken: HTTPMethod[] = target.method === 'GET' ? ['GET', 'HEAD'] : [target.method]
    for (const url of target.urls) router.on(taken, url, neverCalled, target)
  }
  const find: Router['find'] = (method, url) => {
    const found = router.find(method as HTTPMethod, url ?? '')
    if (found === null) return undefined
    if (!found.store) return 'malformed'
    return { target: found.store, params: found.params, query: found.searchParams }
  }
  const at = (url: string | undefined) =>
    methods.flatMap((method) => {
      const found = find(method, url)
      return found === undefined || found === 'malformed' ? [] : [{ method, target: found.target }]
    })
  return {
    find,
    methodsOf: (url) => at(url).map(({ method }) => method),
    featureOf: (url) => at(url).find(({ target }) => target.feature)?.target.feature,
    headersOf: (url) => Object.assign({}, ...at(url).map(({ target }) => target.headers)),
  }
}

function neverCalled(): never {
  throw new TypeError('routes are looked up here, and handled by the caller of find')
}
