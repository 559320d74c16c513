import { MailError, type MailStage } from './mailer.ts'

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

/** The stage at which sending failed, from the library's error. */
export function mailFailure(error: unknown): MailError {
  if (error instanceof MailError) return error
  const { code, originalCode, timeoutType, permanent, message } = read(error)
  const isPermanent = permanent === true
  if (code === 'EABORT')
    return new MailError('send', 'the mail server took too long', { isPermanent, cause: error })
  const isTls = code === 'ESOCKET' && tlsCode.test(String(originalCode))
  // Silence after the greeting is no longer a matter of reaching the server.
  const stage = isTls ? 'tls' : timeoutType === 'SOCKET_TIMEOUT' ? 'send' : (stages[String(code)] ?? 'send')
  return new MailError(stage, message.slice(0, 500), { isPermanent, cause: error })
}

type Reported = Error & { code?: unknown; originalCode?: unknown; timeoutType?: unknown; permanent?: unknown }

function read(error: unknown): Reported {
  return error instanceof Error ? error : new Error(String(error))
}
