import type { Secret } from '#lib/secret.ts'
import { MailError, type MailStage } from './mailer.ts'
import { withoutPassword } from './without-password.ts'

const stages: Readonly<Record<string, MailStage>> = {
  ECONFIG: 'config',
  EDNS: 'dns',
  ECONNECTION: 'connect',
  ETIMEDOUT: 'connect',
  ESOCKET: 'connect',
  EPROTOCOL: 'connect',
  ETLS: 'tls',
  EREQUIRETLS: 'tls',
  EAUTH: 'auth',
  ENOAUTH: 'auth',
}

// What Node calls the failures of certificates and handshakes, on sockets that speak TLS from the start.
const tlsCode = /^(?:ERR_(?:TLS|SSL)|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|CERT_|HOSTNAME_|EPROTO$)/

/** The stage at which sending failed, from the library's error. With `url`, of the mail server, nothing of it tells the
 * password there. */
export function mailFailure(error: unknown, url?: Secret): MailError {
  if (error instanceof MailError) return error
  const reported = read(error)
  const { code, originalCode, timeoutType, permanent } = reported
  const isPermanent = permanent === true
  const message = url ? withoutPassword(reported, url) : reported.message
  const cause = url ? retold(reported, message) : error
  if (code === 'EABORT') return new MailError('send', 'the mail server took too long', { isPermanent, cause })
  const isTls = code === 'ESOCKET' && tlsCode.test(String(originalCode))
  // Silence after the greeting is no longer a matter of reaching the server.
  const stage = isTls ? 'tls' : timeoutType === 'SOCKET_TIMEOUT' ? 'send' : (stages[String(code)] ?? 'send')
  // Cut at the end: half a password would not be found.
  return new MailError(stage, message.slice(0, 500), { isPermanent, cause })
}

interface Reported extends Error {
  readonly code?: unknown
  readonly originalCode?: unknown
  readonly responseCode?: unknown
  readonly command?: unknown
  readonly response?: unknown
  readonly timeoutType?: unknown
  readonly permanent?: unknown
}

function read(error: unknown): Reported {
  return error instanceof Error ? error : new Error(String(error))
}

/** The library's error has the server's words in several places, also of other receivers; the log prints them all. */
function retold({ code, originalCode, responseCode, command }: Reported, message: string): Error {
  return Object.assign(new Error(message), { code, originalCode, responseCode, command })
}
