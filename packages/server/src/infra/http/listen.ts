import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { errorCode } from '#lib/system-error.ts'

/** Begins to accept connections; port 0 picks a free one. `localhost` is both of the machine's own addresses, and `::` every
 * address, where it has IPv6. */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<AddressInfo> {
  await listenAt(server, { host: host === 'localhost' ? '127.0.0.1' : host, port }).catch(
    (error: unknown) => {
      const hasNoIpv6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'].includes(errorCode(error) ?? '')
      if (host !== '::' || !hasNoIpv6) throw error
      return listenAt(server, { host: '0.0.0.0', port })
    },
  )
  const address = server.address() as AddressInfo
  if (host === 'localhost') await listenBeside(server, { host: '::1', port: address.port })
  return address
}

async function listenAt(server: Server, at: { readonly host: string; readonly port: number }): Promise<void> {
  server.listen(at)
  await once(server, 'listening')
}

/** Takes connections to another address for the same server. A machine without IPv6 has no such address. */
function listenBeside(server: Server, at: { readonly host: string; readonly port: number }): Promise<void> {
  const beside = createServer((socket) => void server.emit('connection', socket))
  server.once('close', () => beside.close())
  return new Promise((resolve) => {
    beside.on('listening', resolve).on('error', () => resolve())
    beside.listen(at)
  })
}
