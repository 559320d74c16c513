import type { FileId, IdTag } from '@kith/protocol'
import { mintProxyToken } from '#features/accounts/index.ts'
import { type ActionPorts, prepareFileShare, settleAttachment } from '#features/actions/index.ts'
import {
  ActiveUploads,
  assertAttachable,
  collectionEndpoints,
  dropFiles,
  endDeadUploads,
  endDeadUploadsJob,
  endSharesOfFiles,
  type FetchDeps,
  type FileViewer,
  fetchAndTell,
  fetchFileJob,
  fileEndpoints,
  findAccessibleFile,
  findFileViewer,
  findOrphans,
  findOrphansJob,
  findViewerNamed,
  getFile,
  makeVariants,
  makeVariantsJob,
  RecentReads,
  removeItems,
  reviewShares,
  reviewSharesJob,
  ShareSweep,
  shareActions,
  shareEndpoints,
  sweepBlobs,
  sweepBlobsJob,
  sweepCopies,
  sweepCopiesJob,
  sweepSharesJob,
  sweepTrash,
  sweepTrashJob,
  sweepUploads,
  sweepUploadsJob,
  type UploadDeps,
  UploadLeases,
  uploadEndpoints,
  uploadFile,
  withdrawShare,
  withdrawShareJob,
  writeLevel,
} from '#features/files/index.ts'
import { findNames, type PictureBytes, type SetPictureDeps } from '#features/profiles/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { TenantId, Writer } from '#infra/db/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { Addresses } from './addresses.ts'
import { getTenant, type IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'
import { storageLimitsOf } from './settings-ports.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

/** Files with all that is about them: who may read them, to whom they are shared, what is kept of them for oneself. */
export function openFileFeatures(services: Services, identity: IdentityFeatures, addresses: Addresses) {
  const { db, clock, vault, jobs } = services
  const { emit } = identity
  const reads = new RecentReads(db, clock)
  const shareDeps = { db, clock, vault, jobs, emit }
  const beforeRemoval = async (tx: Writer, fileIds: readonly FileId[]) => {
    await endSharesOfFiles(shareDeps, tx, fileIds)
    await removeItems(tx, fileIds)
  }
  const leases = new UploadLeases({ db, clock })
  const storage = storageDeps(services, identity, leases)
  const fileDeps = { ...storage, db, clock, jobs, findNames, beforeRemoval, emit }
  const fetchDeps = handleFileJobs(services, identity, storage)
  jobs.handle(sweepCopiesJob, () => sweepCopies(fileDeps))
  jobs.every(sweepCopiesJob, minuteMs)
  jobs.handle(sweepTrashJob, () => sweepTrash(fileDeps))
  jobs.every(sweepTrashJob, minuteMs)
  return {
    endpoints: [
      ...fileEndpoints({
        ...fileDeps,
        // Documents and databases have no content yet.
        copyContent: async () => undefined,
        noteRead: (read) => reads.note(read),
      }),
      ...uploadEndpoints({ ...fileDeps, partials: services.partials, turns: new ActiveUploads() }),
      ...collectionEndpoints({ db, clock }),
    ],
    pictures: pictureKeeper(services, fileDeps),
    /** What actions do to files. */
    fileShares: shareActions({ ...shareDeps, beforeRemoval }),
    ...accessFinders(services),
    /** Shares tell the identities they are for by actions, which in turn need the files and wait for attachments. */
    wireActions(ports: ActionPorts): Endpoint[] {
      wireFetches(services, identity, { fetchDeps, ports })
      return wireShares(services, identity, { addresses, ports, shareDeps })
    },
    close: () => reads[Symbol.asyncDispose](),
  }
}

export type FileFeatures = ReturnType<typeof openFileFeatures>

function wireShares(
  { jobs }: Services,
  { tenants }: IdentityFeatures,
  {
    addresses,
    ports,
    shareDeps,
  }: {
    readonly addresses: Addresses
    readonly ports: ActionPorts
    readonly shareDeps: Parameters<typeof endSharesOfFiles>[0] & Pick<Services, 'db' | 'vault'>
  },
): Endpoint[] {
  const deps = {
    ...shareDeps,
    prepareFileShare: (notice: Parameters<typeof prepareFileShare>[1]) => prepareFileShare(ports, notice),
    findTenant: tenants.findById,
  }
  jobs.handle(withdrawShareJob, (payload, context) => withdrawShare(deps, payload, context))
  jobs.handle(reviewSharesJob, (_, context) => reviewShares(deps, context))
  const sweep = new ShareSweep(deps)
  jobs.handle(sweepSharesJob, () => sweep.run())
  jobs.every(sweepSharesJob, minuteMs)
  return shareEndpoints({ ...deps, serverUrlOf: ({ idTag }) => addresses.serverUrl(idTag) })
}

/** Pictures that everybody may read, on profiles. */
function pictureKeeper({ db, clock, blobs }: Services, deps: UploadDeps & Parameters<typeof dropFiles>[0]) {
  const storePicture: SetPictureDeps['storePicture'] = async (picture) => {
    const { tenant, caller, preset, bytes, signal, alsoStore } = picture
    const { stream, contentType: declaredType, declaredLength, atMostLength } = bytes
    const arriving = { stream, declaredType, declaredLength, atMostLength, signal }
    const described = { fileName: preset, tags: [], parentId: undefined, createdAt: undefined }
    const upload = { tenant, caller, preset, visibility: 'P' as const, ...described, ...arriving, alsoStore }
    return (await uploadFile(deps, upload)).fileId
  }
  const findPicture = async (tenant: Tenant, caller: Identified, fileId: FileId) => {
    const { file, isPublic } = await getFile({ db, clock }, { tenant, caller, fileId })
    // A picture of a profile is for everybody, as one that is attached to a public action.
    const given = { tenant, caller, attachments: [fileId], now: nowSecs(clock) }
    if (!isPublic) await assertAttachable(db.reader(tenant.tenantId), given)
    const content = file.status === 'D' || !file.contentType.startsWith('image/') ? undefined : file.content
    if (!content) throw new Failure('E-FILE-NOTFOUND')
    return { ...content, contentType: file.contentType }
  }
  return {
    storePicture,
    findPicture,
    dropPicture: (tx: Writer, fileId: FileId) => dropFiles(deps, tx, [fileId]),
    /** The bytes of a picture that the caller may read. */
    async openPicture(tenant: Tenant, caller: Identified, fileId: FileId): Promise<PictureBytes> {
      const { hash, contentType } = await findPicture(tenant, caller, fileId)
      const stream = await blobs.open(tenant.tenantId, hash)
      if (!stream) throw new Failure('E-FILE-NOTFOUND')
      return { stream, contentType, declaredLength: undefined, atMostLength: undefined }
    },
  }
}

function storageDeps(
  { blobs, images, tempDir, freshPaths }: Services,
  { settings }: Pick<IdentityFeatures, 'settings'>,
  leases: UploadLeases,
) {
  return {
    leases,
    freshPaths,
    blobs,
    images,
    tempDir,
    limitsOf: (tenantId: TenantId) => storageLimitsOf(settings, tenantId),
    tierOf: async () => 'free' as const,
    imageFormatOf: (tenantId: TenantId) => settings.find(tenantId, 'file.image_format'),
  }
}

function handleFileJobs(
  services: Services,
  identity: IdentityFeatures,
  storage: ReturnType<typeof storageDeps>,
): FetchDeps {
  const { db, clock, jobs, egress, signingKeys, partials } = services
  const { tenants, identities, findLifetimes, emit } = identity
  const deps = { ...storage, db, clock, jobs, egress, emit }
  jobs.handle(makeVariantsJob, (payload, context) => makeVariants(deps, payload, context))
  jobs.handle(sweepBlobsJob, () => sweepBlobs(deps))
  jobs.every(sweepBlobsJob, 10 * minuteMs)
  jobs.handle(endDeadUploadsJob, () => endDeadUploads(deps))
  // With the lease that ends before, less than a minute.
  jobs.every(endDeadUploadsJob, minuteMs / 4)
  jobs.handle(findOrphansJob, () => findOrphans(deps))
  jobs.every(findOrphansJob, dayMs)
  jobs.handle(sweepUploadsJob, () => sweepUploads({ db, clock, partials, findTenant: tenants.findById }))
  jobs.every(sweepUploadsJob, 10 * minuteMs)
  return {
    ...deps,
    async findServer(ownerTag: IdTag) {
      const resolved = await identities.resolve(ownerTag)
      return resolved.kind === 'found'
        ? { kind: 'found' as const, serverUrl: resolved.identity.serverUrl }
        : resolved
    },
    async proxyToken(tenantId: TenantId, target: IdTag) {
      const { proxySecs } = await findLifetimes(tenantId)
      const issuedAt = nowSecs(clock)
      const token = { target, issuedAt, expiresAt: issuedAt + proxySecs }
      return await mintProxyToken(signingKeys, await getTenant(tenants, tenantId), token)
    },
  }
}

/** Files that came with actions: each attempt to fetch one is told to the actions that wait for it. */
function wireFetches(
  { db, jobs }: Services,
  { tenants }: IdentityFeatures,
  { fetchDeps, ports }: { readonly fetchDeps: FetchDeps; readonly ports: ActionPorts },
): void {
  const onTried: Parameters<typeof fetchAndTell>[0]['onTried'] = async (tenantId, tried, verdict) => {
    const tenant = await tenants.findById(tenantId)
    if (!tenant) return
    const told = { tenant, fileId: tried.fileId, issuerTag: tried.ownerTag, verdict }
    await db.transact(tenantId, (tx) => settleAttachment(ports, tx, told))
  }
  const deps = { ...fetchDeps, onTried }
  jobs.handle(fetchFileJob, (payload, context) => fetchAndTell(deps, payload, context))
}

/** What tokens and references for single files ask: may their holder, or their maker, do so now? */
function accessFinders({ db, clock }: Services) {
  const accessOf = async (tenant: Tenant, who: FileViewer, fileId: FileId) => {
    const reader = db.reader(tenant.tenantId)
    const found = await findAccessibleFile(reader, who, { fileId, now: nowSecs(clock) })
    if (!found || found.file.status === 'D') return undefined
    const level = found.level >= writeLevel ? ('write' as const) : ('read' as const)
    return { level, isCopy: found.file.isCopy }
  }
  return {
    async findFileAccess(tenant: Tenant, caller: Identified, fileId: FileId) {
      const reader = db.reader(tenant.tenantId)
      const who = await findFileViewer(reader, { tenant, caller, now: nowSecs(clock) })
      return (await accessOf(tenant, who, fileId))?.level
    },
    /** What the caller may give on: nothing of another owner's file, of which a copy is here. */
    async findGrantableAccess(tenant: Tenant, caller: Identified, fileId: FileId) {
      const reader = db.reader(tenant.tenantId)
      const who = await findFileViewer(reader, { tenant, caller, now: nowSecs(clock) })
      const access = await accessOf(tenant, who, fileId)
      return access?.isCopy ? ('read' as const) : access?.level
    },
    async findMakersFileAccess(tenant: Tenant, makerTag: IdTag, fileId: FileId) {
      const who = await findViewerNamed(db.reader(tenant.tenantId), tenant, makerTag)
      const access = await accessOf(tenant, who, fileId)
      return access?.level === 'write' && !access.isCopy ? access.level : undefined
    },
  }
}
