import {
  maxMessageBytes,
  parseFileId,
  type SocketClose,
  type SocketContract,
  socketCloses,
} from '@kith/protocol'
import type { HeldCredential } from '#features/accounts/index.ts'
import { EgressError, type OpenWebSocket, UpgradeRefused } from '#infra/egress/index.ts'
import type { GatewayVisit } from '#infra/http/index.ts'
import {
  type Frame,
  type Relays,
  type SocketHandler,
  SocketRefusal,
  type SocketVisit,
} from '#infra/ws/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { OwnersGateway } from './open-gateway.ts'
import { SilenceTimer } from './silence-timer.ts'
import type { Visa } from './visitor-tokens.ts'

interface RelayDeps {
  readonly clock: Clock
  readonly gateway: Pick<OwnersGateway, 'forget'>
  readonly openWebSocket: OpenWebSocket
  readonly relays: Relays
}

interface RelayRequest {
  readonly visit: SocketVisit<HeldCredential>
  readonly passage: GatewayVisit & Pick<SocketVisit<HeldCredential>, 'access'>
  readonly visa: Visa
  readonly contract: SocketContract
}

// Clients of other servers. Those of this one have the bounds of all sockets as well.
const maxRelays = 2000
const patienceMs = 10_000
// A whole document with its frame around it.
const framingBytes = 64 * 1024

/** Connects to the socket of the target's server, and passes messages on both ways. */
export async function openRelay(deps: RelayDeps, request: RelayRequest): Promise<SocketHandler> {
  const { visit, contract } = request
  if (deps.relays.size >= maxRelays) throw new SocketRefusal('overloaded')
  const maxBytes = (contract.largest?.messageBytes ?? maxMessageBytes) + framingBytes
  const prepared = deps.relays.prepare()
  const patience = new SilenceTimer(deps.clock, patienceMs)
  try {
    const upstream = await deps.openWebSocket({
      url: urlOf(request),
      headers: { authorization: `Bearer ${request.visa.bearer}` },
      maxMessageBytes: maxBytes,
      signal: patience.signal,
      onConnection: (connection) => prepared.watch(connection, maxBytes),
    })
    return prepared.start(upstream, {
      socket: visit.socket,
      frames: contract.frames,
      answerInstead: keepToken,
      closeOf: (code) => closeOf(deps, request, code),
    })
  } catch (error) {
    prepared.end()
    throw refusalOf(deps, request, error)
  } finally {
    patience.stop()
  }
}

function urlOf({ visit, passage: { access }, visa, contract }: RelayRequest): string {
  const fileId = parseFileId(String(visit.params.fileId))
  if (!fileId) throw new SocketRefusal('notFound')
  const query = new URLSearchParams({
    ...(access ? { access } : {}),
    ...(visit.query.get('presence') === '1' ? { presence: '1' } : {}),
  })
  return `${visa.serverUrl}${contract.path.replace('{fileId}', fileId)}?${query}`
}

// A request to go on with another token has one token in it; longer ones are none.
const maxRequest = 16 * 1024
const mayRenew = /"type"\s*:\s*"auth"/

/** The owner's own token is not for the other server; the socket lives as long as the session does. */
function keepToken(frame: Frame): string | undefined {
  if (typeof frame !== 'string' || frame.length > maxRequest || !mayRenew.test(frame)) return undefined
  const { id } = membersOf(frame)
  const message = 'tokens are not passed on to the other server'
  const isId = typeof id === 'string' || typeof id === 'number'
  return JSON.stringify({ type: 'error', ...(isId ? { id } : {}), code: 403, message })
}

function membersOf(text: string): { readonly id?: unknown } {
  try {
    return (JSON.parse(text) as { readonly id?: unknown } | null) ?? {}
  } catch {
    return {}
  }
}

const byCode = new Map<number, SocketClose>(
  (
    ['tooLarge', 'failed', 'restarting', 'overloaded', 'forbidden', 'notFound', 'full', 'wrongType'] as const
  ).map((why) => [socketCloses[why].code, why]),
)

/** The same close, but 1008: that is about the token that was made for the other server. A new one is made when the client comes
 * back, unless this one was new. */
function closeOf({ gateway }: RelayDeps, { passage, visa }: RelayRequest, code: number): SocketClose {
  if (code !== socketCloses.unauthenticated.code) return byCode.get(code) ?? 'restarting'
  gateway.forget(passage)
  return visa.isFresh ? 'forbidden' : 'restarting'
}

function refusalOf({ gateway }: RelayDeps, { passage }: RelayRequest, error: unknown): unknown {
  if (error instanceof EgressError) return new SocketRefusal('overloaded')
  if (!(error instanceof UpgradeRefused)) return error
  if (error.status === 401 || error.status === 403) {
    gateway.forget(passage)
    return new SocketRefusal('forbidden')
  }
  return new SocketRefusal(error.status === 404 ? 'notFound' : 'overloaded')
}
