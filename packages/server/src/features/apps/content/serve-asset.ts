import { Readable } from 'node:stream'
import type { FileId } from '@kith/protocol'
import { type ByteRange, rangeOf } from '#features/files/index.ts'
import type { BlobStore } from '#infra/blobs/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { ByteReply } from '#infra/http/index.ts'
import { inflateEntry, type ZipEntry } from '#infra/zip/index.ts'
import { Failure } from '#lib/failure.ts'
import { type Conditions, hasCurrent } from '#lib/preconditions.ts'
import { assetHeaders, assetPolicy } from './asset-policy.ts'
import { assetType } from './asset-types.ts'
import type { PackageIndex, PackageIndexes } from './package-indexes.ts'

export interface AssetDeps {
  readonly db: Database
  readonly blobs: Pick<BlobStore, 'open'>
  readonly indexes: PackageIndexes
}

interface AssetRequest {
  readonly tenant: Tenant
  readonly host: string | undefined
  readonly fileId: FileId
  readonly path: string
  readonly conditions: Conditions & { readonly range?: string; readonly 'if-range'?: string }
  readonly isHead: boolean
}

/** A file of a package that the tenant has installed, for everybody. */
export async function serveAsset(deps: AssetDeps, request: AssetRequest): Promise<ByteReply> {
  const { tenant, fileId, host = '', conditions, isHead } = request
  const policy = assetPolicy(host, fileId)
  const index = policy && (await deps.indexes.find(deps.db.reader(tenant.tenantId), fileId))
  const entry = index && findEntry(index, request.path)
  if (!entry) throw new Failure('E-FILE-NOTFOUND')
  // Bytes never change at their address.
  const etag = `"${index.hash.slice(0, 32)}"`
  const headers = {
    ...assetHeaders,
    'content-security-policy': policy,
    'content-type': assetType(entry.path),
    etag,
    // A part of deflated bytes could only be had by inflating all before it.
    ...(entry.method === 'stored' && { 'accept-ranges': 'bytes' }),
  }
  if (hasCurrent(conditions, { etag })) return { status: 304, headers }
  const isInParts = entry.method === 'stored' && !isHead
  const range = isInParts ? rangeOf(conditions, etag, entry.size) : 'whole'
  if (range === 'whole') {
    const body = () => openWhole(deps, tenant, index, entry)
    return { status: 200, headers: { ...headers, 'content-length': `${entry.size}` }, body }
  }
  const part = {
    'content-length': `${range.end - range.start + 1}`,
    'content-range': `bytes ${range.start}-${range.end}/${entry.size}`,
  }
  const body = () => openStored(deps, tenant, index, entry, range)
  return { status: 206, headers: { ...headers, ...part }, body }
}

const directoryPage = 'index.html'

/** A directory answers its page, with and without the final `/`. */
function findEntry({ entries }: PackageIndex, path: string): ZipEntry | undefined {
  const asked = path.normalize('NFC')
  const directory = asked === '' || asked.endsWith('/') ? asked : `${asked}/`
  return entries.get(asked) ?? entries.get(directory + directoryPage)
}

async function openWhole(
  deps: AssetDeps,
  tenant: Tenant,
  index: PackageIndex,
  entry: ZipEntry,
): Promise<Readable> {
  const whole = { start: 0, end: entry.compressedSize - 1 }
  return inflateEntry(await openStored(deps, tenant, index, entry, whole), entry)
}

/** A part of the bytes of an entry as they stand in the package. */
async function openStored(
  { blobs }: AssetDeps,
  { tenantId }: Tenant,
  { hash }: PackageIndex,
  { offset, compressedSize }: ZipEntry,
  { start, end }: ByteRange,
): Promise<Readable> {
  if (compressedSize === 0) return Readable.from([])
  const bytes = await blobs.open(tenantId, hash, { start: offset + start, end: offset + end })
  if (bytes) return bytes
  throw new Failure('E-UNAVAILABLE', { cause: new Error(`blob ${hash} of tenant ${tenantId} is missing`) })
}
