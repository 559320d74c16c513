import type { IncomingMessage } from 'node:http'
import type { Contract } from '@kith/protocol'

/** The bearer that a request presents, if any: the header, or where the contract has it the query's `token`. Other
 * schemes in the header are not ours and are left alone. */
export function bearerOf(
  contract: Contract,
  request: IncomingMessage,
  queryToken: unknown,
): string | undefined {
  const header = request.headers.authorization
  const match = header === undefined ? undefined : /^bearer(?: +(\S*))? *$/i.exec(header)
  if (match) return match[1] ?? ''
  return contract.queryToken && typeof queryToken === 'string' ? queryToken : undefined
}
