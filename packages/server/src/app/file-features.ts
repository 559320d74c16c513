import type { AccountEvent } from '#features/accounts/index.ts'
import {
  ActiveUploads,
  type AnnounceDeps,
  ArchiveTurns,
  assertAttachable,
  collectionEndpoints,
  credentialAccess,
  type FileEndpointDeps,
  type FileEvent,
  type FileJobDeps,
  fileEndpoints,
  fileReleaser,
  handleFileJobs,
  LiveFiles,
  type LiveFilesDeps,
  listAttachedFiles,
  profilePictures,
  queueFetches,
  RecentReads,
  type ShareEndpointDeps,
  shareActions,
  shareEndpoints,
  UploadLeases,
  uploadEndpoints,
} from '#features/files/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { Emit } from '#infra/events/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import type { Services } from './services.ts'

type FileServices = Pick<
  Services,
  | 'db'
  | 'clock'
  | 'logger'
  | 'vault'
  | 'jobs'
  | 'blobs'
  | 'partials'
  | 'images'
  | 'tempDir'
  | 'freshPaths'
  | 'egress'
>

/** What files need of others. */
export interface FileParts
  extends Pick<FileEndpointDeps, 'limitsOf' | 'tierOf' | 'imageFormatOf' | 'findNames' | 'contents'>,
    Pick<FileJobDeps, 'findServer' | 'proxyToken'>,
    Pick<LiveFilesDeps, 'recall'>,
    Pick<ShareEndpointDeps, 'serverUrlOf'> {
  readonly emit: Emit<AccountEvent | FileEvent>
  readonly tenants: Pick<Tenants, 'findById'>
}

/** What files tell to actions, which in turn need the files. */
export type FileTelling = AnnounceDeps & Pick<FileJobDeps, 'onTried'>

/** Files, with access, shares, and the notes that an account keeps about a file. */
export function openFileFeatures(
  services: FileServices,
  { tenants, serverUrlOf, recall, ...parts }: FileParts,
) {
  const { db, clock, logger, jobs, vault, partials, ...stores } = services
  const reads = new RecentReads(db, clock)
  const shareDeps = { db, clock, vault, jobs, emit: parts.emit, serverUrlOf }
  const noteRead = reads.noteRead.bind(reads)
  const findTenant = tenants.findById
  const live = new LiveFiles({ db, clock, logger, emit: parts.emit, findTenant, recall, noteRead })
  const deps = {
    ...{ ...stores, ...parts, db, clock, jobs, vault, partials },
    leases: new UploadLeases({ db, clock }),
    archiveTurns: new ArchiveTurns(services.clock),
    findTenant,
    beforeRemoval: fileReleaser(shareDeps),
    noteRead,
  }
  return {
    deps,
    reads,
    /** For the sockets on which documents and databases are spoken. */
    live,
    pictures: profilePictures(deps),
    /** What tokens and references for single files ask. */
    access: credentialAccess(deps),
    /** What actions do to files. */
    forActions: {
      fileShares: shareActions(deps),
      attachments: {
        assertAttachable,
        listShown: listAttachedFiles,
        queueFetches: queueFetches.bind(undefined, deps),
      },
    },
    wire(telling: FileTelling): Endpoint[] {
      handleFileJobs(jobs, { ...deps, ...telling })
      return [
        ...fileEndpoints(deps),
        ...uploadEndpoints({ ...deps, turns: new ActiveUploads() }),
        ...collectionEndpoints(deps),
        ...shareEndpoints({ ...shareDeps, ...telling }),
      ]
    },
    async close() {
      await live.close()
      await reads[Symbol.asyncDispose]()
    },
  }
}

export type FileFeatures = ReturnType<typeof openFileFeatures>
