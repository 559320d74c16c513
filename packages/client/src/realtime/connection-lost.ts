import type { ConnectionState } from './reconnecting-socket.ts'

/** There is no connection, or it closed before the answer came. */
export class ConnectionLost extends Error {
  /** The close code of the WebSocket: 1006 when the connection broke or none could be made, 1000 after `close()`, otherwise why the
   * server ended it (`socketCloses` in `@kith/protocol`). `cause` is the error of the last attempt to connect, where there was one. */
  readonly code: number

  constructor(message: string, { code = 1006, cause }: { code?: number; cause?: Error | undefined } = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'ConnectionLost'
    this.code = code
  }
}

/** For calls when, or after, a connection has ended for good. */
export function endOf({ code, reason }: { readonly code: number; readonly reason: string }): ConnectionLost {
  return new ConnectionLost(`the connection has ended: ${reason === '' ? code : reason}`, { code })
}

/** For calls that have waited for a connection for as long as they may. */
export function noConnection(baseUrl: string, timeoutMs: number, state?: ConnectionState): ConnectionLost {
  const cause = state?.kind === 'connecting' ? state.lastError : undefined
  const why = cause === undefined ? '' : `: ${cause.message}`
  return new ConnectionLost(`no connection to ${baseUrl} within ${timeoutMs} ms${why}`, { cause })
}
