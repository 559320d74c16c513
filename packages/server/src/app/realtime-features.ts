import type { HeldCredential } from '#features/accounts/index.ts'
import { databaseContents, type EngineDeps, LiveDatabases, rtdbRoute } from '#features/databases/index.ts'
import { addDocumentsSweep, Documents, documentContents, documentsRoute } from '#features/documents/index.ts'
import { type ContentsByType, countContent, type LiveFiles } from '#features/files/index.ts'
import type { SocketRoute } from '#infra/ws/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'
import { storageLimitsOf } from './settings-ports.ts'

/** What is said over sockets about the content of files. */
export interface Realtime {
  readonly routes: readonly SocketRoute<HeldCredential>[]
  /** Resolves when everything that was sent is stored and told. */
  settled(): Promise<void>
}

/** Opens documents and databases: their contents for the files room, and their sockets. */
export function openRealtimeFeatures(
  { db, clock, logger, jobs, nodeBus }: Services,
  { settings }: Pick<IdentityFeatures, 'settings'>,
) {
  const limitsOf = storageLimitsOf.bind(undefined, settings)
  const documents = new Documents({ db, clock, logger, bus: nodeBus, limitsOf, countContent })
  addDocumentsSweep({ db, clock, jobs })
  const engine: EngineDeps = {
    ...{ db, clock, limitsOf },
    countContent: (tx, counted) => countContent(tx, { ...counted, now: nowSecs(clock) }),
  }
  const databases = new LiveDatabases({ db, clock, logger, bus: nodeBus, engine })
  const contents: ContentsByType = {
    CRDT: documentContents({ db, clock, documents }),
    RTDB: databaseContents({ ...engine, onChanged: databases.noteChanged.bind(databases) }),
  }
  return {
    contents,
    routesTo: (files: LiveFiles) => [
      documentsRoute({ documents, liveFiles: files, clock }),
      rtdbRoute({ engine, files, databases, logger }),
    ],
    async settled() {
      await Promise.all([documents.settled(), databases.settled()])
    },
    async close() {
      await Promise.all([documents.close(), databases.close()])
    },
  }
}
