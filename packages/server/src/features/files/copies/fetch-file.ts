import type { FileId, IdTag } from '@kith/protocol'
import type { Static } from 'typebox'
import type { StagedBlob } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { JobContext, Jobs } from '#infra/jobs/index.ts'
import { sniffType } from '#infra/media/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { hasVariants, type NewFile, type StoredFile } from '../file.ts'
import { type fetchFileJob, makeVariantsJob } from '../file-jobs.ts'
import { fillFile, findFile, insertFile } from '../file-store.ts'
import {
  cancelReservation,
  keepBlobs,
  type Reservation,
  type ReserveDeps,
  reserveUpload,
} from '../upload/reserve-storage.ts'
import { kindOfBytes } from '../upload/storage-kind.ts'
import { countFiles, useBlobs } from '../upload/storage-store.ts'
import {
  type CheckedDescriptor,
  Contradiction,
  deadly,
  fetchDescriptor,
  fetchOriginal,
  findSource,
  type RemoteDeps,
  retryable,
  type Source,
} from './remote-file.ts'
import { isWanted } from './unfetched-file-store.ts'

export interface FetchDeps extends ReserveDeps, RemoteDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

// Larger originals are left where they are until somebody asks for them (docs/protocol/files.md).
const maxPrefetchBytes = 25 * 1024 * 1024

/** What became of an attempt. */
type FetchOutcome = 'held' | 'unavailable' | 'contradicted'

/** A file as the one owner's. */
interface Tried {
  readonly fileId: FileId
  readonly ownerTag: IdTag
}

interface Wanted extends Tried {
  readonly tenantId: TenantId
  /** At whose server to ask. */
  readonly sourceTag: IdTag
}

export interface FetchAndTellDeps extends FetchDeps {
  /** Told of each attempt what became of it, perhaps twice. */
  readonly onTried: (tenantId: TenantId, tried: Tried, outcome: FetchOutcome) => Promise<void>
}

/** The same, and tells what became of it. */
export async function fetchAndTell(
  deps: FetchAndTellDeps,
  payload: Static<(typeof fetchFileJob)['payload']>,
  context: JobContext,
): Promise<void> {
  const tried = { fileId: payload.fileId as FileId, ownerTag: payload.ownerTag as IdTag }
  const told = (outcome: FetchOutcome) => deps.onTried(context.tenantId, tried, outcome)
  // What it came with may have been removed since.
  if (!(await isWanted(deps.db.reader(context.tenantId), payload.fileId as FileId))) return
  try {
    await fetchFile(deps, payload, context)
  } catch (error) {
    await told(error instanceof Contradiction ? 'contradicted' : 'unavailable')
    throw error
  }
  await told('held')
}

/** Fetches a file from its owner's server, checks the bytes against the id, and stores it as a copy of the owner's. */
export async function fetchFile(
  deps: FetchDeps,
  payload: Static<(typeof fetchFileJob)['payload']>,
  { tenantId, signal }: JobContext,
): Promise<void> {
  const ownerTag = payload.ownerTag as IdTag
  const sourceTag = (payload.sourceTag ?? ownerTag) as IdTag
  const wanted: Wanted = { tenantId, fileId: payload.fileId as FileId, ownerTag, sourceTag }
  const known = await findFile(deps.db.reader(tenantId), wanted.fileId)
  if (known && (known.content || !isCopyOf(known, ownerTag) || known.status === 'D')) return
  const source = await findSource(deps, wanted, signal)
  const descriptor = await fetchDescriptor(deps, source, wanted.fileId)
  if (descriptor.size > maxPrefetchBytes && !payload.isOnDemand) await announce(deps, wanted, descriptor)
  else await fetchContent(deps, wanted, source, descriptor)
}

/** What is here as somebody else's stays theirs, whoever has the same bytes. */
function isCopyOf(file: StoredFile, ownerTag: IdTag): boolean {
  return file.isCopy && file.ownerTag === ownerTag
}

/** Notes what there is to fetch when somebody asks for it. */
async function announce(deps: FetchDeps, wanted: Wanted, descriptor: CheckedDescriptor): Promise<void> {
  const file = { ...copyOf(deps, wanted, descriptor), status: 'P', content: undefined } as const
  await deps.db.transact(wanted.tenantId, async (tx) => {
    if (!(await isWanted(tx, file.fileId))) return
    if (await insertFile(tx, file)) await countFiles(tx, 1)
    // What was shared is there, of an unknown size.
    else await fillFile(tx, file)
  })
}

async function fetchContent(
  deps: FetchDeps,
  wanted: Wanted,
  source: Source,
  descriptor: CheckedDescriptor,
): Promise<void> {
  const { tenantId } = wanted
  using _lease = deps.leases.hold()
  const reservation = await reserve(deps, tenantId, descriptor.size)
  try {
    const staged = await fetchOriginal(deps, tenantId, source, descriptor)
    try {
      await store(deps, wanted, { descriptor, staged, reservation })
    } finally {
      await staged.discard()
    }
  } catch (error) {
    await cancelReservation(deps, tenantId, reservation)
    throw error
  }
}

async function reserve(deps: FetchDeps, tenantId: TenantId, bytes: number): Promise<Reservation> {
  try {
    return await reserveUpload(deps, tenantId, { bytes })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Space may be made within the days in which the job is tried; the limit of one file rarely changes.
    throw error.code === 'E-TOOLARGE' ? deadly(error.message) : retryable(error.message)
  }
}

async function store(
  deps: FetchDeps,
  wanted: Wanted,
  fetched: {
    readonly descriptor: CheckedDescriptor
    readonly staged: StagedBlob
    readonly reservation: Reservation
  },
): Promise<void> {
  const { descriptor, staged, reservation } = fetched
  const { contentType } = await sniffType(staged.head, descriptor.contentType)
  const status = hasVariants(contentType) ? 'M' : 'A'
  const file: NewFile = {
    ...copyOf(deps, wanted, descriptor),
    status,
    contentType,
    content: descriptor.content,
    isUtf8: staged.isUtf8,
  }
  const { fileId } = file
  const kept = { reservation, blobs: [staged] }
  await keepBlobs(deps, wanted.tenantId, kept, async (tx) => {
    // What it came with may have been removed while it was fetched.
    if (!(await isWanted(tx, fileId))) return
    if (await insertFile(tx, file)) await countFiles(tx, 1)
    else if (!(await fillFile(tx, file))) return
    await useBlobs(tx, [{ hash: staged.hash, size: staged.size, kind: kindOfBytes(contentType) }])
    if (status === 'M') await deps.jobs.enqueue(tx, makeVariantsJob, { fileId }, { subject: fileId })
  })
}

function copyOf(
  { clock }: FetchDeps,
  { fileId, ownerTag }: Wanted,
  { fileName, contentType, size }: CheckedDescriptor,
): Omit<NewFile, 'status' | 'content'> {
  const now = nowSecs(clock)
  return {
    fileId,
    fileTp: 'BLOB',
    ownerTag,
    isCopy: true,
    preset: 'default',
    fileName,
    contentType,
    size,
    parentId: undefined,
    visibility: null,
    tags: [],
    processingError: undefined,
    createdAt: now,
    modifiedAt: now,
  }
}
