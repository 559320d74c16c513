/** What can be uploaded. Not every browser can send a stream. */
export type Bytes = Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

export interface UploadProgress {
  readonly sentBytes: number
  /** Undefined for a stream. */
  readonly totalBytes: number | undefined
}

interface Upload {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Bytes
  readonly fetch: typeof fetch
  readonly onProgress?: (progress: UploadProgress) => void
  readonly signal?: AbortSignal
}

interface UploadAnswer {
  readonly status: number
  headerOf(name: string): string | null
  readonly text: string
}

/** The members of `XMLHttpRequest` that are used. In browsers, `fetch` does not report the progress of an upload. */
interface XhrLike {
  status: number
  responseText: string
  readonly upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null }
  onload: (() => void) | null
  onerror: (() => void) | null
  onabort: (() => void) | null
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getResponseHeader(name: string): string | null
  send(body: Blob | Uint8Array<ArrayBuffer>): void
  abort(): void
}

/** Sends bytes and resolves with the response, whatever its status. Rejects with a `TypeError` when the connection fails. */
export async function uploadBytes(upload: Upload): Promise<UploadAnswer> {
  const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => XhrLike }
  const { body, onProgress } = upload
  if (onProgress && XMLHttpRequest && !(body instanceof ReadableStream)) {
    return sendByXhr(new XMLHttpRequest(), upload, body)
  }
  return sendByFetch(upload)
}

async function sendByFetch(upload: Upload): Promise<UploadAnswer> {
  const { url, method, headers, signal } = upload
  const body = upload.onProgress ? counted(upload.body, upload.onProgress) : upload.body
  const response = await upload.fetch(url, {
    method,
    headers,
    body,
    ...(body instanceof ReadableStream ? { duplex: 'half' as const } : {}),
    ...(signal ? { signal } : {}),
  })
  return {
    status: response.status,
    headerOf: (name) => response.headers.get(name),
    text: await response.text(),
  }
}

/** The same bytes as a stream that reports how many of them were sent. */
function counted(body: Bytes, onProgress: NonNullable<Upload['onProgress']>): ReadableStream<Uint8Array> {
  const totalBytes =
    body instanceof ReadableStream ? undefined : body instanceof Blob ? body.size : body.byteLength
  const source = body instanceof ReadableStream ? body : new Blob([body]).stream()
  let sentBytes = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      sentBytes += chunk.byteLength
      controller.enqueue(chunk)
      onProgress({ sentBytes, totalBytes })
    },
  })
  return source.pipeThrough(counter)
}

function sendByXhr(
  xhr: XhrLike,
  upload: Upload,
  body: Blob | Uint8Array<ArrayBuffer>,
): Promise<UploadAnswer> {
  const { signal, onProgress } = upload
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    xhr.open(upload.method, upload.url)
    for (const [name, value] of Object.entries(upload.headers)) xhr.setRequestHeader(name, value)
    const abort = () => xhr.abort()
    const settle = () => signal?.removeEventListener('abort', abort)
    signal?.addEventListener('abort', abort, { once: true })
    xhr.upload.onprogress = ({ loaded, total }) => onProgress?.({ sentBytes: loaded, totalBytes: total })
    xhr.onload = () => {
      settle()
      resolve({ status: xhr.status, headerOf: (name) => xhr.getResponseHeader(name), text: xhr.responseText })
    }
    xhr.onerror = () => {
      settle()
      reject(new TypeError('the upload failed'))
    }
    xhr.onabort = () => {
      settle()
      reject(signal?.reason)
    }
    xhr.send(body)
  })
}
