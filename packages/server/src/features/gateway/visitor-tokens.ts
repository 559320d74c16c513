import { getAccessToken } from '@kith/protocol'
import { LRUCache } from 'lru-cache'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { getProxyToken, type ProxyTokenDeps } from '#features/accounts/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { Egress } from '#infra/egress/index.ts'
import type { GatewayVisit } from '#infra/http/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { badAnswer, noAnswer } from './bad-answer.ts'
import { jsonOf } from './read-json-answer.ts'
import { toldFailure } from './told-failure.ts'

export interface VisitorTokenDeps extends ProxyTokenDeps {
  readonly clock: Clock
  readonly egress: Pick<Egress, 'request'>
  readonly tenants: Pick<Tenants, 'find'>
}

/** What proves the owner at the target, and where that is; `isHere`: a tenant of this server. `isFresh`: made for this visit. */
export interface Visa {
  readonly bearer: string
  readonly serverUrl: string
  readonly isHere: boolean
  readonly isFresh: boolean
}

type KeptVisa = Omit<Visa, 'isFresh'> & { readonly expiresAt: number }

// Some 500 bytes each: the hosts that the people of a server look at within an hour.
const maxTokens = 5000
const longestLifeSecs = 3600
// A token that is about to end would end on its way.
const marginSecs = 30
const maxAnswerBytes = 65_536
const tokenForm = /^[\w.~+/=-]{1,4096}$/

const exchanged = Compile(
  Type.Object({ data: Type.Object({ token: Type.String(), expiresAt: Type.Number() }) }),
)

/** The tokens with which owners are shown at other hosts, in the memory of this process: one for each session and target. */
export class VisitorTokens {
  readonly #deps: VisitorTokenDeps
  readonly #kept = new LRUCache<string, KeptVisa>({ max: maxTokens })
  // Callers that ask for the same at the same time share one. Bound: the requests under way.
  readonly #underWay = new Map<string, Promise<KeptVisa>>()

  constructor(deps: VisitorTokenDeps) {
    this.#deps = deps
  }

  async get(visit: GatewayVisit): Promise<Visa> {
    const key = keyOf(visit)
    const known = this.#kept.get(key)
    if (known && known.expiresAt - marginSecs > nowSecs(this.#deps.clock)) return { ...known, isFresh: false }
    const underWay = this.#underWay.get(key) ?? this.#begin(key, visit)
    return { ...(await underWay), isFresh: true }
  }

  forget(visit: GatewayVisit): void {
    this.#kept.delete(keyOf(visit))
  }

  /** Forgets those of a session, or of all sessions of a tenant, that has ended. */
  forgetSession(tenantId: number, sid: string | undefined): void {
    const start = sid === undefined ? `${tenantId} ` : `${tenantId} ${sid} `
    for (const key of this.#kept.keys()) if (key.startsWith(start)) this.#kept.delete(key)
  }

  #begin(key: string, visit: GatewayVisit): Promise<KeptVisa> {
    const begun = this.#make(visit)
      .then((made) => {
        this.#kept.set(key, made)
        return made
      })
      .finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, begun)
    return begun
  }

  async #make(visit: GatewayVisit): Promise<KeptVisa> {
    const { token, expiresAt, serverUrl } = await getProxyToken(this.#deps, visit)
    const isHere = (await this.#deps.tenants.find(visit.target)) !== undefined
    if (isHere) return { bearer: token, expiresAt, serverUrl, isHere }
    return { ...(await this.#exchange(serverUrl, token)), serverUrl, isHere }
  }

  async #exchange(serverUrl: string, proxyToken: string): Promise<Pick<KeptVisa, 'bearer' | 'expiresAt'>> {
    const url = `${serverUrl}${getAccessToken.path}?token=${encodeURIComponent(proxyToken)}`
    const request = { method: 'GET', url, maxBytes: maxAnswerBytes, refusesRedirects: true } as const
    const { status, headers, body } = await this.#deps.egress.request(request).catch((error: unknown) => {
      throw noAnswer(error)
    })
    const answer = jsonOf(body)
    if (status !== 200) throw refusedExchange(toldFailure(status, headers, answer))
    if (!exchanged.Check(answer) || !tokenForm.test(answer.data.token)) throw badAnswer('no access token')
    const latest = nowSecs(this.#deps.clock) + longestLifeSecs
    return { bearer: answer.data.token, expiresAt: Math.min(answer.data.expiresAt, latest) }
  }
}

/** Its reasons are about a token that the owner has never seen. */
function refusedExchange({ code, status, retryAfterSecs }: Failure): Failure {
  if (status !== undefined) return badAnswer('no access token')
  const retry = retryAfterSecs === undefined ? {} : { retryAfterSecs }
  if (code === 'E-RATELIMIT' || code === 'E-UNAVAILABLE') return new Failure('E-UNAVAILABLE', retry)
  if (code === 'E-PROFILE-NOTFOUND') return new Failure(code)
  return new Failure('E-AUTH-FORBIDDEN', { message: 'Your identity is not accepted there.' })
}

function keyOf({ tenant, caller, target }: GatewayVisit): string {
  return `${tenant.tenantId} ${caller.sessionId ?? ''} ${target}`
}
