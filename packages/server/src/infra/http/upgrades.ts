import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorStatus } from '@kith/protocol'
import { type LoopGuard, maxLoops } from '#infra/egress/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type AccessLog, logUpgrade, proxiedRoute, type UpgradeOutcome } from './access-log.ts'
import { requestIdOf } from './exchange.ts'
import type { NodeServer } from './node-server.ts'
import type { PeerReader } from './peer.ts'
import { type ProxiedHosts, proxiedHostOf, proxiedUpgrade } from './proxied-hosts.ts'
import { endWith, rawAnswer } from './raw-answer.ts'
import { answerUnderWay } from './request-turns.ts'
import type { Routed, Router } from './router.ts'
import { normalizeTarget } from './target.ts'

/** The target at the path of a request, if it speaks the protocol that the request asks for. Other faults of a handshake
 * are for the target to refuse. */
export function upgradeOf(router: Router, { method, headers, url }: IncomingMessage): Routed | undefined {
  const protocol = headers.upgrade?.toLowerCase()
  if (method !== 'GET' || protocol === undefined) return undefined
  const found = router.find('GET', url)
  return found && found !== 'malformed' && found.target.upgrade?.protocol === protocol ? found : undefined
}

interface UpgradeDeps {
  readonly router: Router
  readonly peerOf: PeerReader
  readonly clock: Clock
  readonly loopGuard: LoopGuard | undefined
  readonly proxiedHosts: ProxiedHosts | undefined
  readonly accessLog: AccessLog | undefined
}

/** Whether the connection of a request is handed over, and not answered in HTTP. */
export function isUpgrade({ router, peerOf, proxiedHosts }: UpgradeDeps, request: IncomingMessage): boolean {
  const { method, headers } = request
  if (headers.upgrade === undefined) return false
  const host = proxiedHosts && proxiedHostOf(request, peerOf(request))
  if (host !== undefined && proxiedHosts?.takesUpgrade(host))
    return method === 'GET' && headers.upgrade.toLowerCase() === 'websocket'
  return upgradeOf(router, request) !== undefined
}

/** Passes connections that ask for another protocol to the target at their path. */
export function handUpgradesOver(server: NodeServer, deps: UpgradeDeps): void {
  server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Buffer) => {
    // The answer to a request before it would come in the middle of the other protocol.
    if (answerUnderWay(connection) !== undefined) {
      connection.destroy()
      return
    }
    // Until the connection is taken over nothing else listens for its errors.
    const ignore = () => undefined
    connection.on('error', ignore)
    const outcome = outcomeOf(request, connection)
    const taken = take(deps, request, { outcome, head }).then(
      () => void connection.off('error', ignore),
      (error: unknown) => refuse(outcome, deps.clock, error),
    )
    const { accessLog } = deps
    if (accessLog) void taken.then(() => logUpgrade(accessLog, outcome))
  })
}

function outcomeOf({ headers }: IncomingMessage, connection: Duplex): UpgradeOutcome {
  const reqId = requestIdOf(headers['x-request-id'])
  const startedAt = performance.now()
  return { connection, startedAt, reqId, route: 'none', tenant: undefined, status: undefined }
}

async function take(
  { router, peerOf, clock, loopGuard, proxiedHosts }: UpgradeDeps,
  request: IncomingMessage,
  { outcome, head }: { readonly outcome: UpgradeOutcome; readonly head: Buffer },
): Promise<void> {
  const { connection } = outcome
  if (!normalizeTarget(request)) throw new Failure('E-VALIDATION')
  const peer = peerOf(request)
  const host = proxiedHosts && proxiedHostOf(request, peer)
  const backend = host === undefined ? undefined : await proxiedHosts?.find(host)
  if (backend !== undefined) {
    outcome.route = proxiedRoute
    const visit = proxiedUpgrade(clock, { request, peer, connection, head })
    if (loopGuard && loopGuard.countOf(request.headers.via) >= maxLoops) visit.refuse(508)
    else proxiedHosts?.forwardUpgrade(visit, backend)
    return
  }
  const found = upgradeOf(router, request)
  if (!found) throw new Failure('E-NOTFOUND')
  const { params, target } = found
  outcome.route = target.route
  outcome.tenant = await target.upgrade?.take({ request, peer, params, connection, head })
}

function refuse(outcome: UpgradeOutcome, clock: Clock, error: unknown): void {
  const { connection } = outcome
  const failure = error instanceof Failure ? error : new Failure('E-INTERNAL')
  outcome.status = errorStatus[failure.code]
  if (connection.destroyed) return
  endWith(connection, clock, rawAnswer(clock, { status: outcome.status, failure }))
}
