import { createHash } from 'node:crypto'
import type { FileId, IdTag } from '@kith/protocol'
import { fetchDescriptor } from '#features/files/index.ts'
import { type Egress, EgressError } from '#infra/egress/index.ts'
import { JobVerdict } from '#infra/jobs/index.ts'
import { sniffType } from '#infra/media/index.ts'

export interface FetchPictureDeps {
  readonly egress: Pick<Egress, 'request'>
  readonly findServer: (
    idTag: IdTag,
  ) => Promise<{ kind: 'found'; serverUrl: string } | { kind: 'unknown' | 'unreachable' }>
}

/** A picture as its owner's server has it, and as its id commits to it. */
export interface Picture {
  readonly bytes: Buffer
  readonly contentType: string
  readonly etag: string
}

// Twice a cover of 1920 by 1080 pixels of the worst kind.
const maxPictureBytes = 2 * 1024 ** 2
// The descriptor, and then the bytes.
const longestMs = 20_000
const pictureTypes: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
  'image/avif',
])

/** Fetches a picture of a profile without a credential: it is for everybody. Undefined where there is none that can be shown. */
export async function fetchPicture(
  deps: FetchPictureDeps,
  { idTag, fileId }: { readonly idTag: IdTag; readonly fileId: FileId },
): Promise<Picture | undefined> {
  const server = await deps.findServer(idTag)
  if (server.kind !== 'found') return undefined
  const url = `${server.serverUrl}/api/files/${fileId}`
  const signal = AbortSignal.timeout(longestMs)
  try {
    const { size, content } = await fetchDescriptor(deps, { url, bearer: undefined, signal }, fileId)
    if (size > maxPictureBytes) return undefined
    const request = { method: 'GET', url: `${url}?variant=orig`, maxBytes: size, signal } as const
    const { status, body } = await deps.egress.request(request)
    const hash = createHash('sha256').update(body).digest('hex')
    if (status !== 200 || hash !== content.hash) return undefined
    const { contentType } = await sniffType(body.subarray(0, 4100), undefined)
    if (!pictureTypes.has(contentType)) return undefined
    return { bytes: Buffer.from(body), contentType, etag: `"${hash}"` }
  } catch (error) {
    if (error instanceof EgressError || error instanceof JobVerdict) return undefined
    throw error
  }
}
