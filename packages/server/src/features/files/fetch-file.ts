import { FileDescriptor, type FileId, type IdTag } from '@kith/protocol'
import { Compile } from 'typebox/compile'
import type { BlobHash, BlobStore, StagedBlob } from '#infra/blobs/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import { type Egress, EgressError } from '#infra/egress/index.ts'
import { type JobContext, type Jobs, JobVerdict } from '#infra/jobs/index.ts'
import { sniffType } from '#infra/media/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { blobFileId, type Commitment, hasVariants, isFileName, type StoredFile } from './file.ts'
import { makeVariantsJob } from './file-jobs.ts'
import { findFile, insertFile } from './file-store.ts'
import {
  cancelReservation,
  keepBlobs,
  type Reservation,
  type ReserveDeps,
  reserveUpload,
} from './reserve-storage.ts'
import { countFiles, useBlobs } from './storage-store.ts'

export interface FetchDeps extends ReserveDeps {
  readonly db: Database
  readonly blobs: BlobStore
  readonly jobs: Jobs
  readonly clock: Clock
  readonly egress: Egress
  readonly findServer: (
    ownerTag: IdTag,
  ) => Promise<{ kind: 'found'; serverUrl: string } | { kind: 'unknown' } | { kind: 'unreachable' }>
  /** A proxy token of the tenant for the owner of the file. */
  readonly proxyToken: (tenantId: TenantId, target: IdTag) => Promise<string>
}

// Larger originals are left where they are until somebody asks for them (DECISIONS part 11).
const maxFetchedBytes = 25 * 1024 * 1024
const fetchTimeoutMs = 120_000

const descriptorSchema = Compile(FileDescriptor)
const base64url16 = /^[A-Za-z0-9_-]{22}$/
const base64url32 = /^[A-Za-z0-9_-]{43}$/

/** What a descriptor says, once it is known to be what the file id commits to. */
interface CheckedDescriptor {
  readonly contentType: string
  readonly fileName: string
  readonly size: number
  readonly content: Commitment
}

/** Fetches a file from its owner's server, checks the bytes against the id, and stores it as a copy of the owner's. */
export async function fetchFile(
  deps: FetchDeps,
  payload: { readonly fileId: string; readonly ownerTag: string },
  context: JobContext,
): Promise<void> {
  const { tenantId, signal } = context
  const fileId = payload.fileId as FileId
  const ownerTag = payload.ownerTag as IdTag
  if (await findFile(deps.db.reader(tenantId), fileId)) return
  const server = await deps.findServer(ownerTag)
  if (server.kind === 'unknown') throw dead('the owner is not known')
  if (server.kind === 'unreachable') throw retry('the owner’s server cannot be reached')
  const source: Source = {
    base: `${server.serverUrl}/api/files/${fileId}`,
    headers: { authorization: `Bearer ${await deps.proxyToken(tenantId, ownerTag)}` },
    signal,
  }
  const descriptor = await fetchDescriptor(deps, source, fileId)
  if (descriptor.size > maxFetchedBytes) return
  const reservation = await reserve(deps, tenantId, descriptor.size)
  try {
    const staged = await fetchBytes(deps, tenantId, source, descriptor)
    try {
      await store(deps, tenantId, { fileId, ownerTag, descriptor, staged, reservation })
    } finally {
      await staged.discard()
    }
  } catch (error) {
    await cancelReservation(deps, tenantId, reservation)
    throw error
  }
}

interface Source {
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

async function fetchDescriptor(deps: FetchDeps, source: Source, fileId: FileId): Promise<CheckedDescriptor> {
  const { base, headers, signal } = source
  const answer = await reached(
    deps.egress.request({ method: 'GET', url: `${base}/descriptor`, headers, signal }),
  )
  assertStatus(answer.status)
  const descriptor = parseDescriptor(answer.body)
  if (!descriptor || blobFileId(descriptor.content) !== fileId)
    throw dead('the descriptor does not belong to the file id')
  return descriptor
}

function parseDescriptor(body: Uint8Array): CheckedDescriptor | undefined {
  try {
    const data = (JSON.parse(Buffer.from(body).toString('utf8')) as { data?: unknown } | null)?.data
    if (!descriptorSchema.Check(data)) return undefined
    const { contentType, fileName, size, sha256 = '', salt = '' } = data
    if (size < 0 || !base64url32.test(sha256) || !base64url16.test(salt)) return undefined
    const hash = Buffer.from(sha256, 'base64url').toString('hex') as BlobHash
    return { contentType, fileName, size, content: { hash, salt } }
  } catch {
    return undefined
  }
}

async function fetchBytes(
  deps: FetchDeps,
  tenantId: TenantId,
  source: Source,
  descriptor: CheckedDescriptor,
): Promise<StagedBlob> {
  const { base, headers, signal } = source
  const { size, content } = descriptor
  const url = `${base}?variant=orig`
  const answer = await reached(
    deps.egress.stream({ method: 'GET', url, headers, signal, maxBytes: size, timeoutMs: fetchTimeoutMs }),
  )
  if (answer.status !== 200) answer.body.destroy()
  assertStatus(answer.status)
  const staged = await reached(deps.blobs.stage(tenantId, answer.body, { maxBytes: size, signal }))
  if (staged.hash === content.hash) return staged
  await staged.discard()
  throw dead('the bytes are not those the file id commits to')
}

async function store(
  deps: FetchDeps,
  tenantId: TenantId,
  fetched: {
    readonly fileId: FileId
    readonly ownerTag: IdTag
    readonly descriptor: CheckedDescriptor
    readonly staged: StagedBlob
    readonly reservation: Reservation
  },
): Promise<void> {
  const { fileId, ownerTag, descriptor, staged, reservation } = fetched
  const { contentType } = await sniffType(staged.head, descriptor.contentType)
  const now = nowSecs(deps.clock)
  const file: StoredFile = {
    fileId,
    fileTp: 'BLOB',
    status: hasVariants(contentType) ? 'M' : 'A',
    ownerTag,
    isCopy: true,
    preset: 'default',
    // Another server's word: it must meet the rule that ours do.
    fileName: isFileName(descriptor.fileName) ? descriptor.fileName : fileId,
    contentType,
    size: staged.size,
    content: descriptor.content,
    parentId: undefined,
    visibility: null,
    tags: [],
    processingError: undefined,
    createdAt: now,
    modifiedAt: now,
  }
  await keepBlobs(deps, tenantId, { reservation, blobs: [staged] }, async (tx) => {
    if (!(await insertFile(tx, file))) return
    await useBlobs(tx, [staged])
    await countFiles(tx, 1)
    if (file.status === 'M') await deps.jobs.enqueue(tx, makeVariantsJob, { fileId }, { subject: fileId })
  })
}

async function reserve(deps: FetchDeps, tenantId: TenantId, bytes: number): Promise<Reservation> {
  try {
    return await reserveUpload(deps, tenantId, { bytes })
  } catch (error) {
    // Space may be made within the days in which the job is tried.
    if (error instanceof Failure) throw retry(error.message)
    throw error
  }
}

async function reached<Result>(attempt: Promise<Result>): Promise<Result> {
  try {
    return await attempt
  } catch (error) {
    if (error instanceof EgressError) throw new JobVerdict(error.message, { kind: 'retry' }, error)
    if (error instanceof Failure && error.code === 'E-TOOLARGE')
      throw dead('more bytes than the descriptor says')
    throw error
  }
}

function assertStatus(status: number): void {
  if (status === 200) return
  // The owner's server may learn of the follow or the connection later than we ask.
  throw status === 400 || status === 410 ? dead(`HTTP ${status}`) : retry(`HTTP ${status}`)
}

function dead(message: string): JobVerdict {
  return new JobVerdict(message, { kind: 'dead' })
}

function retry(message: string): JobVerdict {
  return new JobVerdict(message, { kind: 'retry' })
}
