import { errorCode } from '#lib/system-error.ts'
import { EgressError } from './egress.ts'

const timeoutCodes: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])
const headerOverflowCodes: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_OVERFLOW', 'HPE_HEADER_OVERFLOW'])
const tlsCode =
  /^(?:ERR_(?:TLS|SSL|OSSL)_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_|HOSTNAME_|EPROTO$)/

/** Names what went wrong below HTTP. Wrong arguments are a bug of the caller and stay as they are. */
export function toEgressError(error: unknown): unknown {
  if (error instanceof EgressError) return error
  const code = codeOf(error)
  if (code === 'UND_ERR_INVALID_ARG') return error
  return new EgressError(reasonOf(code), messageOf(error, code), { cause: error })
}

function reasonOf(code: string): EgressError['reason'] {
  if (timeoutCodes.has(code)) return 'timeout'
  if (headerOverflowCodes.has(code)) return 'too-large'
  return tlsCode.test(code) ? 'tls' : 'connect'
}

function codeOf(error: unknown): string {
  // Several addresses were tried: the first error stands for all.
  if (error instanceof AggregateError && error.errors.length > 0 && !('code' in error)) {
    return codeOf(error.errors[0])
  }
  return errorCode(error) ?? ''
}

/** Without addresses and ports: the message may be shown to the caller of the API. */
function messageOf(error: unknown, code: string): string {
  if (code !== '') return `no answer: ${code}`
  return error instanceof Error ? `no answer: ${error.name}` : 'no answer'
}
