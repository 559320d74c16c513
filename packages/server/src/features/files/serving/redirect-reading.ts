import type { BlobHash, BlobStore } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { contentDisposition, isShownInline } from './serving-headers.ts'

export interface RedirectDeps {
  readonly blobs: Pick<BlobStore, 'signedUrl'>
  readonly clock: Clock
}

/** Bytes that everybody may read, and that will always be the answer to the same request. */
interface PublicBytes {
  readonly tenantId: TenantId
  readonly hash: BlobHash
  readonly contentType: string
  readonly fileName: string
  readonly forceDownload: boolean
}

// What is signed within the same five minutes has the same address, so that browsers know what they have; and a redirect
// that was kept for as long still leads somewhere.
const windowSecs = 300
const lifeSecs = 900
// A player goes on asking at the signed address while it plays.
const playingSecs = 10_800

// The bucket sends none of our headers: what is shown because they keep it from running is not shown from there.
const harmlessTypes = /^(?:image|audio|video)\/(?!svg)[\w.-]+$/
const playedTypes = /^(?:audio|video)\//

/** The headers of a redirect to the store of blobs; undefined where the bytes must come from here. */
export async function redirectReading(
  { blobs, clock }: RedirectDeps,
  bytes: PublicBytes,
): Promise<Record<string, string> | undefined> {
  const { tenantId, hash, contentType, fileName } = bytes
  const isInline = isShownInline(bytes)
  if (isInline && !harmlessTypes.test(contentType)) return undefined
  const now = nowSecs(clock)
  const life = playedTypes.test(contentType) ? playingSecs : lifeSecs
  const location = await blobs.signedUrl(tenantId, hash, {
    contentType,
    contentDisposition: contentDisposition(isInline ? 'inline' : 'attachment', fileName),
    cacheControl: `public, max-age=${life}`,
    signedAt: now - (now % windowSecs),
    lifeSecs: life,
  })
  if (location === undefined) return undefined
  return {
    location,
    'content-length': '0',
    'cache-control': `public, max-age=${windowSecs}`,
    vary: 'Authorization, Origin, Sec-Fetch-Mode',
  }
}
