import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'

/** Begins to accept connections; port 0 picks a free one. `localhost` is both of the machine's own addresses, where it
 * has both. */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<AddressInfo> {
  server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  if (host === 'localhost') await listenBeside(server, { host: '::1', port: address.port })
  return address
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
