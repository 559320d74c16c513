import type { Requirements } from './contract.ts'
import type { SocketContract } from './ws/socket-contract.ts'

/** The requirements of the gateway itself, whatever those of the endpoint behind it (docs/protocol/gateway.md). */
export const gatewayRequirements = { auth: 'personal' } as const satisfies Requirements

/** The path, on one's own host, at which the path of an endpoint or a socket is called at another identity's host. */
export function gatewayPath(path: string, idTag: string): string {
  return path.replace(/^\/(api|ws)\//, `/$1/at/${idTag}/`)
}

/** The socket at one's own host that is this one at another identity's. */
export function gatewaySocket(contract: SocketContract): SocketContract {
  const { name, path, summary, frames, messagesPerMinute, messageUnitBytes, largest, gateway } = contract
  return {
    ...gatewayRequirements,
    ...(gateway === 'file-tokens' ? { orFileToken: true } : {}),
    name: `${name}At`,
    path: gatewayPath(path, '{at}'),
    summary: `${summary}, at another identity's host`,
    frames,
    messagesPerMinute,
    ...(messageUnitBytes ? { messageUnitBytes } : {}),
    ...(largest ? { largest } : {}),
  }
}
