import { FileDescriptor, type FileId, type IdTag, respellFileName } from '@kith/protocol'
import { Compile } from 'typebox/compile'
import type { BlobHash, BlobStore, StagedBlob } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { type Egress, EgressError } from '#infra/egress/index.ts'
import { JobVerdict } from '#infra/jobs/index.ts'
import { typeWithoutBytes } from '#infra/media/index.ts'
import { Failure } from '#lib/failure.ts'
import { blobFileId, type Commitment } from '../file.ts'

export interface RemoteDeps {
  readonly blobs: Pick<BlobStore, 'stage'>
  readonly egress: Pick<Egress, 'request' | 'stream'>
  readonly findServer: (
    ownerTag: IdTag,
  ) => Promise<
    { kind: 'found'; serverUrl: string } | { kind: 'unknown'; isGone?: true } | { kind: 'unreachable' }
  >
  /** A proxy token of the tenant for the owner of the file. */
  readonly proxyToken: (tenantId: TenantId, target: IdTag) => Promise<string>
}

/** A file on the server of its owner. */
export interface Source {
  readonly url: string
  /** Undefined for what everybody may read. */
  readonly bearer: string | undefined
  readonly signal: AbortSignal
}

/** What a descriptor says, once it is known to be what the file id commits to. */
export interface CheckedDescriptor {
  readonly contentType: string
  readonly fileName: string
  readonly size: number
  readonly content: Commitment
}

// No file is larger; what is larger still is no number that every database holds and adds up.
const maxSize = 2 ** 50
const fetchTimeoutMs = 120_000
const descriptorSchema = Compile(FileDescriptor)
const base64url16 = /^[A-Za-z0-9_-]{22}$/
const base64url32 = /^[A-Za-z0-9_-]{43}$/
// What will be the same however often it is tried.
const finalReasons: ReadonlySet<EgressError['reason']> = new Set(['refused', 'redirect'])

/** Where a file is read on the server of `sourceTag`. */
export async function findSource(
  deps: RemoteDeps,
  {
    tenantId,
    fileId,
    sourceTag,
  }: Record<'fileId', FileId> & Record<'sourceTag', IdTag> & Record<'tenantId', TenantId>,
  signal: AbortSignal,
): Promise<Source> {
  const server = await deps.findServer(sourceTag)
  if (server.kind === 'unknown' && server.isGone) throw deadly('the owner is not known')
  if (server.kind !== 'found') throw retryable('the owner’s server cannot be reached')
  const bearer = await deps.proxyToken(tenantId, sourceTag)
  return { url: `${server.serverUrl}/api/files/${fileId}`, bearer, signal }
}

/** What the owner's server says of a file, if it fits to the id. */
export async function fetchDescriptor(
  deps: { readonly egress: Pick<Egress, 'request'> },
  { url, bearer, signal }: Source,
  fileId: FileId,
): Promise<CheckedDescriptor> {
  const headers = authorization(bearer)
  const answer = await reached(
    deps.egress.request({ method: 'GET', url: `${url}/descriptor`, headers, signal }),
  )
  assertStatus(answer.status)
  if (!isJson(answer.body)) throw retryable('the answer is no JSON')
  const descriptor = readDescriptor(answer.body, fileId)
  if (!descriptor || blobFileId(descriptor.content) !== fileId)
    throw new Contradiction('the descriptor does not belong to the file id')
  return descriptor
}

function readDescriptor(body: Uint8Array, fileId: FileId): CheckedDescriptor | undefined {
  const data = dataOf(body)
  if (!descriptorSchema.Check(data)) return undefined
  const { fileName, size, sha256 = '', salt = '' } = data
  if (size < 0 || size > maxSize || !base64url32.test(sha256) || !base64url16.test(salt)) return undefined
  const hash = Buffer.from(sha256, 'base64url').toString('hex') as BlobHash
  // Another server's words must meet the rules that ours do.
  const contentType = typeWithoutBytes(data.contentType)
  return { contentType, fileName: respellFileName(fileName, fileId), size, content: { hash, salt } }
}

/** A page of a proxy says nothing of the file. */
function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(body).toString('utf8'))
    return true
  } catch {
    return false
  }
}

function dataOf(body: Uint8Array): unknown {
  try {
    return (JSON.parse(Buffer.from(body).toString('utf8')) as { data?: unknown } | null)?.data
  } catch {
    return undefined
  }
}

/** The bytes themselves, staged, if they are those that the descriptor commits to. */
export async function fetchOriginal(
  deps: { readonly egress: Pick<Egress, 'stream'>; readonly blobs: Pick<BlobStore, 'stage'> },
  tenantId: TenantId,
  { url, bearer, signal }: Source,
  { size, content }: CheckedDescriptor,
): Promise<StagedBlob> {
  const headers = authorization(bearer)
  const request = { method: 'GET', url: `${url}?variant=orig`, headers, signal } as const
  const answer = await reached(deps.egress.stream({ ...request, maxBytes: size, timeoutMs: fetchTimeoutMs }))
  if (answer.status !== 200) answer.body.destroy()
  assertStatus(answer.status)
  const staged = await reached(
    deps.blobs.stage(tenantId, answer.body, { maxBytes: size, expectedBytes: size, signal }),
  )
  if (staged.hash === content.hash) return staged
  await staged.discard()
  throw new Contradiction('the bytes are not those that the file id commits to')
}

function authorization(bearer: string | undefined): Record<string, string> {
  return bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
}

async function reached<Result>(attempt: Promise<Result>): Promise<Result> {
  try {
    return await attempt
  } catch (error) {
    if (isTooLarge(error)) throw new Contradiction('more bytes than it may have')
    if (!(error instanceof EgressError)) throw error
    throw finalReasons.has(error.reason) ? deadly(error.message, error) : retryable(error.message, error)
  }
}

function isTooLarge(error: unknown): boolean {
  if (error instanceof EgressError) return error.reason === 'too-large'
  return error instanceof Failure && error.code === 'E-TOOLARGE'
}

function assertStatus(status: number): void {
  if (status === 200) return
  // The owner's server may learn of the follow or the connection later than we ask.
  throw status === 400 || status === 410 ? deadly(`HTTP ${status}`) : retryable(`HTTP ${status}`)
}

/** What the owner's server gives is not what the file id commits to: trying again is no use. */
export class Contradiction extends JobVerdict {
  constructor(message: string) {
    super(message, { kind: 'dead' })
  }
}

/** Says that trying again is no use. */
export function deadly(message: string, cause?: unknown): JobVerdict {
  return new JobVerdict(message, { kind: 'dead' }, cause)
}

export function retryable(message: string, cause?: unknown): JobVerdict {
  return new JobVerdict(message, { kind: 'retry' }, cause)
}
