import type { Readable } from 'node:stream'
import type { VariantName } from '@kith/protocol'
import type { BlobHash, BlobStore } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type Conditions, hasCurrent } from '#lib/preconditions.ts'
import type { StoredFile, StoredVariant } from '../file.ts'
import { type ByteRange, rangeOf } from './byte-range.ts'
import { mayTellMore } from './guest-content.ts'
import { type RedirectDeps, redirectReading } from './redirect-reading.ts'
import { type ServedTypeDeps, servedType } from './served-type.ts'
import { type Caching, servingHeaders } from './serving-headers.ts'

interface ServeRequest {
  readonly file: StoredFile
  readonly variants: readonly StoredVariant[]
  readonly isPublic: boolean
  /** Nobody in particular asks, and with no link. */
  readonly isGuest: boolean
  readonly variant: VariantName | undefined
  readonly forceDownload: boolean
  readonly conditions: Conditions & { readonly range?: string; readonly 'if-range'?: string }
  /** The reader can go to another place for the bytes, and holds nothing that would be lost on the way. */
  readonly mayRedirect: boolean
  /** Nothing but the headers is asked for. */
  readonly isHead: boolean
}

/** Bytes to send: all, a part, or none because the reader has them or finds them elsewhere. */
type Served =
  | { readonly kind: 'unchanged'; readonly headers: Record<string, string> }
  | { readonly kind: 'elsewhere'; readonly headers: Record<string, string> }
  | {
      readonly kind: 'bytes'
      readonly partial: boolean
      readonly headers: Record<string, string>
      readonly open: () => Promise<Readable>
    }

interface Chosen {
  readonly hash: BlobHash
  readonly size: number
  readonly contentType: string
  readonly fileName: string
  /** The same request will always be answered with these bytes. */
  readonly isFinal: boolean
  /** Others who may read the file are answered the same. */
  readonly isSameForGuests: boolean
}

// From small to large: a variant that was left out gives the next larger one that exists, the whole content at last.
const bySize: readonly VariantName[] = ['ic', 'tn', 'sd', 'hd']

/** Answers a request for a file's bytes (docs/protocol/file-life.md, Serving; RFC 9110). */
export async function serveFile(
  deps: RedirectDeps & ServedTypeDeps & { readonly blobs: BlobStore },
  tenantId: TenantId,
  request: ServeRequest,
): Promise<Served> {
  const chosen = await chooseBytes(deps, tenantId, request)
  const etag = `"${chosen.hash}"`
  const { conditions, isHead, file } = request
  const modifiedAt = modifiedAtOf(deps, file, chosen)
  const headers = servingHeaders({
    ...chosen,
    etag,
    modifiedAt,
    caching: cachingOf(request, chosen),
    forceDownload: request.forceDownload,
  })
  if (hasCurrent(conditions, { etag, modifiedAt })) return { kind: 'unchanged', headers }
  if (isMovable(request, chosen, etag)) {
    const bytes = { ...chosen, tenantId, forceDownload: request.forceDownload }
    const redirect = await redirectReading(deps, bytes)
    if (redirect) return { kind: 'elsewhere', headers: redirect }
  }
  if (isHead && (await deps.blobs.size(tenantId, chosen.hash)) === undefined)
    throw missing(tenantId, chosen.hash)
  const range = isHead ? 'whole' : rangeOf(conditions, etag, chosen.size)
  const open = () => openBlob(deps.blobs, tenantId, chosen, range)
  if (range === 'whole') {
    return {
      kind: 'bytes',
      partial: false,
      headers: { ...headers, 'content-length': `${chosen.size}` },
      open,
    }
  }
  const { start, end } = range
  const partHeaders = {
    ...headers,
    'content-length': `${end - start + 1}`,
    'content-range': `bytes ${start}-${end}/${chosen.size}`,
  }
  return { kind: 'bytes', partial: true, headers: partHeaders, open }
}

/** Bytes never change at an address; undefined where others stand in for them, or stand there for others. */
function modifiedAtOf(
  { clock }: Pick<RedirectDeps, 'clock'>,
  { createdAt }: StoredFile,
  { isFinal, isSameForGuests }: Chosen,
): number | undefined {
  // Nothing was modified later than it is answered (RFC 9110, 8.8.2.1).
  return isFinal && isSameForGuests && createdAt <= nowSecs(clock) ? createdAt : undefined
}

/** Who has a part under our tag, or expects it, gets the bytes here: the bucket has tags and times of its own. */
function isMovable(
  { mayRedirect, isPublic, conditions }: ServeRequest,
  { isFinal, isSameForGuests }: Chosen,
  etag: string,
): boolean {
  const isBound =
    conditions['if-range'] === etag ||
    conditions['if-match'] !== undefined ||
    conditions['if-unmodified-since'] !== undefined
  return mayRedirect && isPublic && isSameForGuests && isFinal && !isBound
}

function cachingOf({ isPublic }: ServeRequest, { isFinal, isSameForGuests }: Chosen): Caching {
  if (!isPublic || !isSameForGuests) return 'private'
  return isFinal ? 'immutable' : 'public'
}

async function chooseBytes(
  deps: ServedTypeDeps,
  tenantId: TenantId,
  { file, variants, variant, isGuest }: ServeRequest,
): Promise<Chosen> {
  const isForGuests = !mayTellMore(file, variants)
  const larger = largerThan(variant ?? (isGuest && !isForGuests ? 'hd' : 'orig'))
  for (const name of larger) {
    const found = variants.find((candidate) => candidate.variant === name)
    if (found)
      return {
        hash: found.blobHash,
        size: found.size,
        contentType: `image/${found.format}`,
        fileName: nameAs(file.fileName, found.format),
        isFinal: true,
        isSameForGuests: variant !== undefined || isForGuests,
      }
  }
  if (!file.content || (isGuest && !isForGuests)) throw new Failure('E-FILE-NOTFOUND')
  const { size, status } = file
  const contentType = await servedType(deps, tenantId, file)
  // Until the variants are made, the content stands in for them.
  const isFinal = variant === undefined || variant === 'orig' || status === 'A'
  const fileName = originalName(file)
  return { hash: file.content.hash, size, contentType, fileName, isFinal, isSameForGuests: isForGuests }
}

function largerThan(variant: VariantName): readonly VariantName[] {
  return variant === 'orig' ? [] : bySize.slice(bySize.indexOf(variant))
}

/** The name of the whole content; presets make a picture of another kind of what was uploaded. */
export function originalName({ preset, fileName, contentType }: StoredFile): string {
  const isMade = preset !== 'default' && preset !== 'raw'
  return isMade ? nameAs(fileName, contentType.replace('image/', '')) : fileName
}

const endOfPicture = /\.(?:jpe?g|jpe|jfif|png|webp|avif|gif|tiff?|hei[cf])$/i

/** The name of a picture that was made from another one. */
export function nameAs(fileName: string, format: string): string {
  return `${fileName.replace(endOfPicture, '')}.${format === 'jpeg' ? 'jpg' : format}`
}

async function openBlob(
  blobs: BlobStore,
  tenantId: TenantId,
  { hash, size }: Pick<Chosen, 'hash' | 'size'>,
  range: ByteRange | 'whole',
): Promise<Readable> {
  // Who knows the end takes no more memory than that, and does not read on to find it.
  const whole = size > 0 ? { start: 0, end: size - 1 } : undefined
  const stream = await blobs.open(tenantId, hash, range === 'whole' ? whole : range)
  if (!stream) throw missing(tenantId, hash)
  return stream
}

// Nothing that a reader could have done differently; whoever runs the server finds it in the log.
function missing(tenantId: TenantId, hash: BlobHash): Failure {
  return new Failure('E-UNAVAILABLE', { cause: new Error(`blob ${hash} of tenant ${tenantId} is missing`) })
}
