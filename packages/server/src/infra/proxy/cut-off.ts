import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** Ends a visitor's connection so that a part of an answer is not taken for the whole: by a reset; over TLS, where Node knows
 * none, without the message that all has been sent (RFC 8446 section 6.1). */
export function cutOff(socket: Socket): void {
  if (socket.destroyed) return
  if (socket instanceof TLSSocket) socket.destroy()
  else socket.resetAndDestroy()
}
