import { type Contract, gatewayRequirements, type IdTag, parseIdTag } from '@kith/protocol'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import { Failure, invalid, unauthenticated } from '#lib/failure.ts'
import { admitCaller, admitToTenant, type Counting } from './admission.ts'
import { bearerOf } from './bearer.ts'
import type { Answer, ByteReply, Call } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway, GatewayVisit } from './gateway.ts'
import { type CallInput, type CallOrigin, LiveCall } from './live-call.ts'
import { rateKeyOf } from './peer.ts'
import { assertRate } from './rate-limits.ts'
import { admitRequest } from './request-admission.ts'
import type { Route } from './route.ts'
import type { RawParameters } from './router.ts'
import { answering, readInput, type ServeDeps } from './serve.ts'

interface GatewayRequest {
  readonly route: Route
  readonly exchange: Exchange
  readonly raw: RawParameters
}

/** Takes a request for another identity's host through its life: admission of the owner here, input, the endpoint there,
 * answer. Never rejects. */
export async function serveGateway(
  deps: ServeDeps & { readonly gateway: Gateway },
  request: GatewayRequest,
): Promise<void> {
  const { route, exchange } = request
  await answering(deps, route, exchange, async () => {
    const visit = await admitOwner(deps, request)
    // First of all: what is not in the contract leaves in no form.
    const input = await readInput(deps, route, exchange, request.raw)
    const passage = await deps.gateway.enter(visit)
    if (passage.kind === 'here') return answerHere(deps, request, { visit, input, bearer: passage.bearer })
    const origin = { ...visit, bearer: undefined, browser: undefined }
    return passage.ask(route.contract, callOf(deps, exchange, origin, input))
  })
}

/** Requests through the gateway also take from a bucket of their own, by the owner. */
async function admitOwner(
  deps: ServeDeps,
  { route, exchange, raw }: GatewayRequest,
): Promise<GatewayVisit & { readonly tenant: Tenant; readonly caller: Identified }> {
  const bearer = bearerOf(exchange.request.headers, route.contract.queryToken && raw.query.token)
  const { tenant, caller } = await admitRequest(deps, gatewayRequirements, exchange, bearer)
  if (!tenant || caller.kind !== 'identity') throw unauthenticated('missing')
  await assertRate(deps, 'gateway', caller.idTag)
  return { tenant, caller, target: targetOf(raw.params.at, tenant) }
}

function targetOf(at: unknown, tenant: Tenant): IdTag {
  const target = typeof at === 'string' ? parseIdTag(at) : undefined
  if (target === undefined) throw new Failure('E-PROFILE-NOTFOUND')
  if (target === tenant.idTag) throw invalid('/params/at', 'is this host: call it without the gateway')
  return target
}

/** The target is a tenant of this server: its endpoint answers as it would on its host. */
async function answerHere(
  deps: ServeDeps & { readonly gateway: Gateway },
  { route, exchange }: GatewayRequest,
  {
    visit,
    input,
    bearer,
  }: { readonly visit: GatewayVisit; readonly input: CallInput; readonly bearer: string },
): Promise<Answer<Contract>> {
  const { contract, handle } = route
  const origin = await admitVisitor(deps, contract, exchange, { visit, bearer })
  if (contract.method !== 'GET') await deps.hooks.assertStorable?.(contract)
  return kept(contract, await handle(callOf(deps, exchange, { ...origin, host: visit.target }, input)))
}

function callOf(
  { stopped }: ServeDeps,
  exchange: Exchange,
  ...[origin, input]: [CallOrigin, CallInput]
): Call<Contract> {
  return new LiveCall(exchange, stopped, origin, input) as Call<Contract>
}

async function admitVisitor(
  deps: ServeDeps & { readonly gateway: Gateway },
  contract: Contract,
  { peer: { ip } }: Exchange,
  { visit, bearer }: { readonly visit: GatewayVisit; readonly bearer: string },
) {
  const address = rateKeyOf(ip)
  // The request itself is counted already, and its bearer is one that this server made.
  const counting: Counting = {
    stranger: () => undefined,
    badBearer: () => undefined,
    known: () => assertRate(deps, 'visitor', address),
  }
  const tenant = await admitToTenant(deps, contract, { host: visit.target, ip, bearer }, counting)
  // A host that is served by another tenant, as the default one, is not the target's.
  if (tenant?.idTag !== visit.target) throw new Failure('E-PROFILE-NOTFOUND')
  try {
    const { caller } = await admitCaller(deps, contract, { tenant, ip, bearer }, counting)
    return { tenant, caller, bearer, browser: undefined }
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'E-AUTH-UNAUTH') throw error
    deps.gateway.forget(visit)
    // A 401 would say that the owner's own token is bad.
    throw new Failure('E-AUTH-FORBIDDEN', { message: 'Your identity is not accepted there.' })
  }
}

/** What comes through the gateway is for the owner, whoever else may read it there. */
function kept(contract: Contract, answer: Answer<Contract>): Answer<Contract> {
  if (contract.reply.kind !== 'bytes') return answer
  const reply = answer as ByteReply
  return {
    ...reply,
    headers: { ...reply.headers, 'cache-control': 'private, no-cache' },
  } as ByteReply as never
}
