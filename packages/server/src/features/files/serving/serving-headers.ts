// What a browser may show by itself: it runs no scripts and takes no styles of the file's own choosing.
const inlineTypes =
  /^((image\/(?!svg)|audio\/|video\/)(?![\w.+-]*\+xml)[\w.+-]+|application\/pdf|text\/plain)(;|$)/i

/** `immutable`: everybody may read these bytes, and there will be no others at this address. `public`: there may be. */
export type Caching = 'immutable' | 'public' | 'private'

const cacheControl: Record<Caching, string> = {
  immutable: 'public, max-age=31536000, immutable',
  public: 'public, no-cache',
  private: 'private, no-cache',
}

export const sandboxPolicy = "sandbox; default-src 'none'"

// A browser opens audio and video in a page of its own, which plays nothing in a sandbox.
const playedPolicy = "default-src 'none'; media-src 'self'"
const playedTypes = /^(audio|video)\//

export interface ServedBytes {
  readonly contentType: string
  readonly fileName: string
  readonly etag: string
  /** Unix seconds. */
  readonly modifiedAt?: number | undefined
  readonly caching: Caching
  readonly forceDownload: boolean
}

/** Whether a browser shows the bytes, or offers to save them. */
export function isShownInline({
  contentType,
  forceDownload,
}: Pick<ServedBytes, 'contentType' | 'forceDownload'>): boolean {
  return !forceDownload && inlineTypes.test(contentType)
}

/** The headers of every answer with file bytes (docs/protocol/file-life.md, Serving). */
export function servingHeaders(bytes: ServedBytes): Record<string, string> {
  const inline = isShownInline(bytes)
  return {
    'content-type': bytes.contentType,
    etag: bytes.etag,
    ...(bytes.modifiedAt !== undefined && {
      'last-modified': new Date(bytes.modifiedAt * 1000).toUTCString(),
    }),
    'accept-ranges': 'bytes',
    'cache-control': cacheControl[bytes.caching],
    vary: 'Authorization',
    'content-security-policy': inline && playedTypes.test(bytes.contentType) ? playedPolicy : sandboxPolicy,
    'content-disposition': contentDisposition(inline ? 'inline' : 'attachment', bytes.fileName),
  }
}

/** RFC 6266: an ASCII fallback, and the true name in UTF-8 (RFC 8187). */
export function contentDisposition(kind: 'inline' | 'attachment', fileName: string): string {
  const fallback = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const plain = `${kind}; filename="${fallback}"`
  return fallback === fileName ? plain : `${plain}; filename*=UTF-8''${encodeExtended(fileName)}`
}

function encodeExtended(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
