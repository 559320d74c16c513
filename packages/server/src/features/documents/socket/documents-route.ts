import { crdtSocket } from '@kith/protocol'
import type { HeldCredential } from '#features/accounts/index.ts'
import type { LiveFiles } from '#features/files/index.ts'
import type { Frame, SocketHandler, SocketRoute } from '#infra/ws/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { Documents } from '../session/open-documents.ts'
import { DocumentConnection } from './document-connection.ts'

interface RouteDeps {
  readonly documents: Documents
  readonly liveFiles: LiveFiles
  readonly clock: Clock
}

/** `/ws/crdt/{fileId}`: y-protocols over a document. */
export function documentsRoute({ documents, liveFiles, clock }: RouteDeps): SocketRoute<HeldCredential> {
  return {
    contract: crdtSocket,
    review: (visits) => liveFiles.review(visits),
    async open(visit): Promise<SocketHandler> {
      const live = await liveFiles.open(visit, 'CRDT')
      const taken = await documents.take(live.tenantId, live.fileId).catch((error: unknown) => {
        live.close()
        throw error
      })
      const connection = new DocumentConnection({ clock, socket: visit.socket, live, session: taken.session })
      const gone = (unread?: readonly Frame[]) => {
        void connection.end(unread as Uint8Array[] | undefined).finally(taken.giveBack)
      }
      taken.session.join(connection)
      await connection.greet().catch((error: unknown) => {
        gone()
        throw error
      })
      return { receive: (frame) => connection.receive(frame as Uint8Array), gone }
    },
  }
}
