import { rtdbSocket } from '@kith/protocol'
import type { HeldCredential } from '#features/accounts/index.ts'
import type { SocketRoute, SocketVisit } from '#infra/ws/index.ts'
import { Connection } from '../live/connection.ts'
import type { ClientDeps } from './client-deps.ts'
import { DatabaseClient } from './database-client.ts'

/** `/ws/rtdb/{fileId}`: a database that is told as it changes. */
export function rtdbRoute(deps: ClientDeps): SocketRoute<HeldCredential> {
  return {
    contract: rtdbSocket,
    open: (visit) => openClient(deps, visit),
    review: (visits) => deps.files.review(visits),
  }
}

async function openClient(deps: ClientDeps, visit: SocketVisit<HeldCredential>) {
  const file = await deps.files.open(visit, 'RTDB')
  const connection = new Connection(visit, file)
  try {
    const live = await deps.databases.join(connection)
    if (visit.query.get('presence') === '1') live.presence.join(connection)
    const client = new DatabaseClient(deps, connection, live)
    return {
      receive: client.receive.bind(client),
      gone() {
        deps.databases.leave(connection)
        file.close()
      },
    }
  } catch (error) {
    file.close()
    throw error
  }
}
