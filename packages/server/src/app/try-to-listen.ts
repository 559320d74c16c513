import { createServer } from 'node:net'
import type { ListenAddress } from '#infra/config/index.ts'
import { bindDns, closeSockets } from '#infra/dns-server/index.ts'
import { listen } from '#infra/http/index.ts'

/** Binds an address as the server does it, and lets it go. Rejects with the system's error. */
export async function listenBriefly(address: ListenAddress): Promise<void> {
  const server = createServer()
  try {
    await listen(server, address)
  } finally {
    server.close()
  }
}

/** The same for DNS, by UDP and TCP. */
export async function bindDnsBriefly(address: ListenAddress): Promise<void> {
  await closeSockets(await bindDns(address))
}
