import type { Readable } from 'node:stream'
import type { VariantName } from '@kith/protocol'
import type { BlobHash, BlobStore } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { type ByteRange, parseRange } from './byte-range.ts'
import type { StoredFile, StoredVariant } from './file.ts'
import { isNotModified, servingHeaders } from './serving-headers.ts'

export interface ServeRequest {
  readonly file: StoredFile
  readonly variants: readonly StoredVariant[]
  readonly isPublic: boolean
  readonly variant: VariantName | undefined
  readonly forceDownload: boolean
  readonly range: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly ifRange: string | undefined
}

/** Bytes to send: all, a part, or none because the reader has them. */
export type Served =
  | { readonly kind: 'unchanged'; readonly headers: Record<string, string> }
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
}

// From small to large: a variant that was left out gives the next larger one that exists.
const bySize: readonly VariantName[] = ['ic', 'tn', 'sd', 'hd', 'orig']

/** Answers a request for a file's bytes (DECISIONS part 12 "Serving", RFC 9110). */
export function serveFile(
  deps: { readonly blobs: BlobStore },
  tenantId: TenantId,
  request: ServeRequest,
): Served {
  const chosen = chooseBytes(request)
  const etag = `"${chosen.hash}"`
  const headers = servingHeaders({
    contentType: chosen.contentType,
    fileName: request.file.fileName,
    etag,
    isPublic: request.isPublic,
    forceDownload: request.forceDownload,
  })
  if (isNotModified(request.ifNoneMatch, etag)) return { kind: 'unchanged', headers }
  const isCurrent = request.ifRange === undefined || request.ifRange === etag
  const range = isCurrent ? parseRange(request.range, chosen.size) : 'whole'
  if (range === 'unsatisfiable') throw new Failure('E-RANGE', { details: { size: chosen.size } })
  const open = () => openBlob(deps.blobs, tenantId, chosen.hash, range === 'whole' ? undefined : range)
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

function chooseBytes({ file, variants, variant }: ServeRequest): Chosen {
  const wanted = variant ?? (file.blobHash ? 'orig' : 'tn')
  if (wanted === 'orig' || variants.length === 0) return originalOf(file)
  for (const name of bySize.slice(bySize.indexOf(wanted))) {
    const found = name === 'orig' ? undefined : variants.find((candidate) => candidate.variant === name)
    if (found) return { hash: found.blobHash, size: found.size, contentType: `image/${found.format}` }
  }
  return originalOf(file)
}

function originalOf(file: StoredFile): Chosen {
  if (!file.blobHash) throw new Failure('E-FILE-NOTFOUND')
  return { hash: file.blobHash, size: file.size, contentType: file.contentType }
}

async function openBlob(
  blobs: BlobStore,
  tenantId: TenantId,
  hash: BlobHash,
  range: ByteRange | undefined,
): Promise<Readable> {
  const stream = await blobs.open(tenantId, hash, range)
  if (!stream) throw new Error(`blob ${hash} of tenant ${tenantId} is missing`)
  return stream
}
