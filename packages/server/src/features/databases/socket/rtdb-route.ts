import { rtdbSocket } from '@kith/protocol'
import type { HeldCredential } from '#features/accounts/index.ts'
import type { SocketRoute, SocketVisit } from '#infra/ws/index.ts'
import { Connection } from '../live/connection.ts'
import type { ClientDeps } from './client-deps.ts'
import { DatabaseClient } from './database-client.ts'
import { LongRequests } from './long-requests.ts'

/** `/ws/rtdb/{fileId}`: a database that is told as it changes. */
export function rtdbRoute(needs: Omit<ClientDeps, 'longRequests'>): SocketRoute<HeldCredential> {
  const deps: ClientDeps = { ...needs, longRequests: new LongRequests() }
  return {
    contract: rtdbSocket,
    open: (visit) => openClient(deps, visit),
    review: (visits) => deps.files.review(visits),
  }
}

async function openClient(deps: ClientDeps, visit: SocketVisit<HeldCredential>) {
  const file = await deps.files.open(visit, 'RTDB')
  const { tenantId, idTag } = file
  const allowance = deps.databases.allowanceOf({ tenantId, idTag, address: visit.address })
  const connection = new Connection(visit, file, allowance)
  try {
    const live = await deps.databases.join(connection)
    if (visit.query.get('presence') === '1') live.presence.join(connection)
    const client = new DatabaseClient(deps, connection, live)
    return {
      receive: client.receive.bind(client),
      gone() {
        client.end()
        deps.databases.leave(connection)
        file.close()
      },
    }
  } catch (error) {
    file.close()
    throw error
  }
}
