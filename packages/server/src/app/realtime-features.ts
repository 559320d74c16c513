import type { HeldCredential } from '#features/accounts/index.ts'
import { addDocumentsSweep, Documents, documentContents, documentsRoute } from '#features/documents/index.ts'
import { countContent, type FileContents, LiveFiles } from '#features/files/index.ts'
import type { SocketRoute } from '#infra/ws/index.ts'
import type { FileFeatures } from './file-features.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

/** What is said over sockets about the content of files. */
export interface RealtimeFeatures {
  readonly routes: readonly SocketRoute<HeldCredential>[]
  readonly contents: { readonly CRDT: FileContents }
  /** Resolves when everything that was sent is stored and told. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** Documents. */
export function openRealtimeFeatures(
  { db, clock, logger, jobs, nodeBus }: Services,
  { authenticator }: IdentityFeatures,
  { deps }: Pick<FileFeatures, 'deps'>,
): RealtimeFeatures {
  const recall = (held: HeldCredential) => authenticator.recall(held)
  const liveFiles = new LiveFiles({ ...deps, logger, recall })
  const { limitsOf } = deps
  const documents = new Documents({ db, clock, logger, bus: nodeBus, limitsOf, countContent })
  addDocumentsSweep({ db, clock, jobs })
  return {
    routes: [documentsRoute({ documents, liveFiles, clock })],
    contents: { CRDT: documentContents({ db, documents }) },
    async settled() {
      await documents.settled()
      await liveFiles.settled()
    },
    async close() {
      await documents.close()
      await liveFiles.close()
    },
  }
}
