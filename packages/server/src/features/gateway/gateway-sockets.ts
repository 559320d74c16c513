import { fileLevelOf, gatewaySocket, type IdTag, parseIdTag, type SocketClose } from '@kith/protocol'
import type { HeldCredential } from '#features/accounts/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { OpenWebSocket } from '#infra/egress/index.ts'
import {
  type AdmissionDeps,
  admitCaller,
  admitToTenant,
  assertRate,
  type Counting,
} from '#infra/http/index.ts'
import { type Relays, SocketRefusal, type SocketRoute, type SocketVisit } from '#infra/ws/index.ts'
import { Failure } from '#lib/failure.ts'
import { InnerVisit } from './inner-visit.ts'
import type { OwnersGateway } from './open-gateway.ts'
import { openRelay } from './open-relay.ts'

export interface GatewaySocketDeps extends AdmissionDeps<HeldCredential> {
  readonly gateway: OwnersGateway
  readonly openWebSocket: OpenWebSocket
  readonly relays: Relays
  /** Whose file it is that the tenant has a copy of. */
  findOwnerOfCopy(tenant: Tenant, fileId: string): Promise<IdTag | undefined>
  /** Which of these credentials have ended. */
  listEnded(held: readonly HeldCredential[]): Promise<ReadonlySet<HeldCredential>>
}

type OuterVisit = SocketVisit<HeldCredential>

/** An open socket, and whom it is at. */
interface Passage {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly target: IdTag
  /** What the owner asked for, within what the token allows. */
  readonly access: 'read' | 'write' | undefined
  /** Where the target is a tenant of this server. */
  inner: InnerVisit | undefined
}

/** The sockets of these routes at the hosts of other identities. */
export function gatewaySockets(
  deps: GatewaySocketDeps,
  routes: readonly SocketRoute<HeldCredential>[],
): SocketRoute<HeldCredential>[] {
  return routes.filter(({ contract }) => contract.gateway).map((route) => gatewayRoute(deps, route))
}

function gatewayRoute(
  deps: GatewaySocketDeps,
  route: SocketRoute<HeldCredential>,
): SocketRoute<HeldCredential> {
  // Bounded by the sockets.
  const open = new WeakMap<OuterVisit, Passage>()
  return {
    contract: gatewaySocket(route.contract),
    async open(visit) {
      const passage = await passageOf(deps, visit)
      const visa = await deps.gateway.visaOf(passage).catch(refused)
      open.set(visit, passage)
      if (!visa.isHere) return openRelay(deps, { visit, passage, visa, contract: route.contract })
      passage.inner = await enterHere(deps, route, { visit, passage, bearer: visa.bearer })
      return route.open(passage.inner)
    },
    async review(visits) {
      const pairs = visits.flatMap((visit) => {
        const passage = open.get(visit)
        return passage ? [[visit, passage] as const] : []
      })
      return reviewAll(deps, route, pairs)
    },
  }
}

async function passageOf(deps: GatewaySocketDeps, visit: OuterVisit): Promise<Passage> {
  const { tenant, params, proof } = visit
  const { caller } = proof
  if (caller.kind !== 'identity') throw new SocketRefusal('unauthenticated')
  await assertRate(deps, 'gateway', caller.idTag)
  const target = parseIdTag(String(params.at))
  if (target === undefined || target === tenant.idTag) throw new SocketRefusal('notFound')
  const access = accessOf(visit, caller)
  // A token for one file shows the owner to nobody but the owner of that file.
  if (caller.scope && (await deps.findOwnerOfCopy(tenant, String(params.fileId))) !== target)
    throw new SocketRefusal('forbidden')
  return { tenant, caller, target, access, inner: undefined }
}

/** A token for single files opens these alone, and no further than it allows. */
function accessOf({ params, access }: OuterVisit, { scope }: Identified): Passage['access'] {
  if (scope === undefined) return access
  const level = fileLevelOf(scope, String(params.fileId))
  if (level === 'write') return access
  if (level === undefined || access === 'write') throw new SocketRefusal('forbidden')
  return level
}

/** Why there is no token for the target, as a close: 1008 would be about the owner's own. */
function refused(error: unknown): never {
  if (!(error instanceof Failure)) throw error
  if (error.code === 'E-PROFILE-NOTFOUND') throw new SocketRefusal('notFound')
  throw new SocketRefusal(error.code === 'E-AUTH-FORBIDDEN' ? 'forbidden' : 'overloaded')
}

async function enterHere(
  deps: GatewaySocketDeps,
  { contract }: SocketRoute<HeldCredential>,
  {
    visit,
    passage,
    bearer,
  }: { readonly visit: OuterVisit; readonly passage: Passage; readonly bearer: string },
): Promise<InnerVisit> {
  const presented = { host: passage.target, ip: visit.address, bearer }
  const counting: Counting = {
    stranger: () => undefined,
    badBearer: () => undefined,
    known: () => assertRate(deps, 'visitor', visit.address),
  }
  try {
    const tenant = await admitToTenant(deps, contract, presented, counting)
    if (tenant?.idTag !== passage.target) throw new SocketRefusal('notFound')
    return new InnerVisit(
      visit,
      tenant,
      await admitCaller(deps, contract, { ...presented, tenant }, counting),
      passage.access,
    )
  } catch (error) {
    deps.gateway.forget(passage)
    if (error instanceof Failure && error.code === 'E-AUTH-UNAUTH') throw new SocketRefusal('forbidden')
    throw error instanceof Failure ? refused(error) : error
  }
}

type Pair = readonly [OuterVisit, Passage]

async function reviewAll(
  deps: GatewaySocketDeps,
  route: SocketRoute<HeldCredential>,
  pairs: readonly Pair[],
): Promise<ReadonlyMap<OuterVisit, SocketClose>> {
  const inner = pairs.flatMap(([visit, passage]) => (passage.inner ? [[visit, passage.inner] as const] : []))
  const held = inner.flatMap(([, { proof }]) => proof.credential ?? [])
  const [ended, closes, uncallable] = await Promise.all([
    deps.listEnded(held),
    route.review?.(inner.map(([, visit]) => visit)),
    deps.gateway.listUncallable(pairs.map(([, passage]) => passage)),
  ])
  const blocked = new Set(uncallable)
  return new Map<OuterVisit, SocketClose>([
    ...inner.flatMap(([visit, at]): [OuterVisit, SocketClose][] => {
      const why = closes?.get(at)
      const hasEnded = at.proof.credential !== undefined && ended.has(at.proof.credential)
      return hasEnded ? [[visit, 'forbidden']] : why ? [[visit, why]] : []
    }),
    ...pairs.flatMap(([visit, passage]): [OuterVisit, SocketClose][] =>
      blocked.has(passage) ? [[visit, 'forbidden']] : [],
    ),
  ])
}
