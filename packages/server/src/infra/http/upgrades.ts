import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorStatus } from '@kith/protocol'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { PeerReader } from './peer.ts'
import { rawAnswer } from './raw-answer.ts'
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
}

/** Passes connections that ask for another protocol to the target at their path. */
export function handUpgradesOver(server: Server, deps: UpgradeDeps): void {
  server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Buffer) => {
    // Until the connection is taken over nothing else listens for its errors.
    const ignore = () => undefined
    connection.on('error', ignore)
    take(deps, request, connection, head).then(
      () => connection.off('error', ignore),
      (error: unknown) => refuse(connection, deps.clock, error),
    )
  })
}

async function take(
  { router, peerOf }: UpgradeDeps,
  request: IncomingMessage,
  connection: Duplex,
  head: Buffer,
): Promise<void> {
  if (!normalizeTarget(request)) throw new Failure('E-VALIDATION')
  const found = upgradeOf(router, request)
  if (!found) throw new Failure('E-NOTFOUND')
  const { params, target } = found
  await target.upgrade?.take({ request, peer: peerOf(request), params, connection, head })
}

function refuse(connection: Duplex, clock: Clock, error: unknown): void {
  if (connection.destroyed) return
  const failure = error instanceof Failure ? error : new Failure('E-INTERNAL')
  connection.end(rawAnswer(clock, { status: errorStatus[failure.code], failure }))
}
