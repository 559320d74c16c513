import { getCACertificates } from 'node:tls'
import type { WebSocket } from 'ws'
import { checkedLookup } from './checked-lookup.ts'
import type { EgressOptions } from './create-egress.ts'
import { EgressError } from './egress.ts'
import { toEgressError } from './egress-failure.ts'
import { checkedUrl, networkPolicy } from './network-policy.ts'

export interface WebSocketRequest {
  /** `http:` or `https:`, as the API of the same server. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly maxMessageBytes: number
  /** Until the connection is open. */
  readonly signal: AbortSignal
  /** Told of the connection, before anything of it is read. */
  readonly onConnection: (connection: NodeJS.EventEmitter) => void
}

/** The other server has refused the upgrade, with this HTTP status. */
export class UpgradeRefused extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the upgrade is refused: HTTP ${status}`)
    this.name = 'UpgradeRefused'
    this.status = status
  }
}

/** Opens WebSockets of other servers, under the rules of the egress client. Throws `EgressError` or `UpgradeRefused`. */
export type OpenWebSocket = (request: WebSocketRequest) => Promise<WebSocket>

const handshakeMs = 10_000

export function webSocketOpener(options: EgressOptions): OpenWebSocket {
  const policy = networkPolicy(options.privateNetworks)
  const lookup = checkedLookup({ resolver: options.resolver, policy })
  const { trustedCertificates = [] } = options
  const authorities =
    trustedCertificates.length > 0 ? { ca: [...getCACertificates('default'), ...trustedCertificates] } : {}
  return async ({ url, headers, maxMessageBytes, signal, onConnection }) => {
    const address = checkedUrl(url, policy)
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
    const { WebSocket } = await import('ws')
    signal.throwIfAborted()
    const socket = new WebSocket(address, {
      lookup,
      ...authorities,
      minVersion: 'TLSv1.2',
      rejectUnauthorized: true,
      followRedirects: false,
      perMessageDeflate: false,
      handshakeTimeout: handshakeMs,
      maxPayload: maxMessageBytes,
      headers: {
        'user-agent': options.userAgent,
        ...(options.loopGuard ? { via: options.loopGuard.via } : {}),
        ...headers,
      },
    })
    await opened(socket, signal, onConnection)
    return socket
  }
}

function opened(
  socket: WebSocket,
  signal: AbortSignal,
  onConnection: WebSocketRequest['onConnection'],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      reject(new EgressError('aborted', 'the connection was called off'))
      socket.terminate()
    }
    signal.addEventListener('abort', giveUp, { once: true })
    socket.once('upgrade', ({ socket: connection }) => onConnection(connection))
    socket.once('unexpected-response', (request, { statusCode = 0 }) => {
      reject(new UpgradeRefused(statusCode))
      request.destroy()
    })
    socket.on('error', (error) => reject(toEgressError(error)))
    socket.once('open', () => {
      signal.removeEventListener('abort', giveUp)
      // Nothing is read before the caller has added its listeners.
      socket.pause()
      resolve()
    })
  })
}
