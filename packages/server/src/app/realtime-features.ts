import type { HeldCredential } from '#features/accounts/index.ts'
import { addDocumentsSweep, Documents, documentContents, documentsRoute } from '#features/documents/index.ts'
import { type ContentsByType, countContent, type LiveFiles, noContents } from '#features/files/index.ts'
import type { SocketRoute } from '#infra/ws/index.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'
import { storageLimitsOf } from './settings-ports.ts'

/** What is said over sockets about the content of files. */
export interface Realtime {
  readonly routes: readonly SocketRoute<HeldCredential>[]
  /** Resolves when everything that was sent is stored and told. */
  settled(): Promise<void>
}

/** Documents: what is in them, for files, and how they are spoken to. */
export function openRealtimeFeatures(
  { db, clock, logger, jobs, nodeBus }: Services,
  { settings }: Pick<IdentityFeatures, 'settings'>,
) {
  const limitsOf = storageLimitsOf.bind(undefined, settings)
  const documents = new Documents({ db, clock, logger, bus: nodeBus, limitsOf, countContent })
  addDocumentsSweep({ db, clock, jobs })
  const contents: ContentsByType = {
    CRDT: documentContents({ db, documents }),
    RTDB: noContents('application/x-ndjson'),
  }
  return {
    contents,
    routesTo: (liveFiles: LiveFiles) => [documentsRoute({ documents, liveFiles, clock })],
    settled: () => documents.settled(),
    close: () => documents.close(),
  }
}
