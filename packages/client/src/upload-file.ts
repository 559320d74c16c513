import {
  type CreatedFile,
  continueUpload,
  createUpload,
  getFileMetadata,
  getUpload,
  tusVersion,
  type UploadPreset,
  uploadFile as uploadContract,
  uploadPieceType,
  type Visibility,
} from '@kith/protocol'
import type { Client, UploadOptions } from './create-client.ts'
import { KithError } from './kith-error.ts'

/** What becomes of an uploaded file, and how it is sent. */
export interface UploadFileOptions extends UploadOptions {
  readonly fileName: string
  readonly preset?: UploadPreset
  readonly tags?: readonly string[]
  /** A folder. */
  readonly parentId?: string
  readonly visibility?: Visibility
  /** When the content is older than the upload. */
  readonly createdAt?: Date
  /** From this size on a file is sent in pieces, and goes on where a connection broke; 16 MiB when absent. */
  readonly resumableFromBytes?: number
  /** Told the id of an upload in pieces, for a later `uploadId`. */
  readonly onBegun?: (uploadId: string) => void
  /** Continues an upload in pieces of the same file. */
  readonly uploadId?: string
  /** How long to wait after each failure in a row; after the last of them the failure is thrown. */
  readonly retryDelaysMs?: readonly number[]
}

const mebibyte = 1024 * 1024
const defaultResumableFrom = 16 * mebibyte
// Few enough requests, and what many a proxy takes.
const pieceBytes = 16 * mebibyte
const defaultDelaysMs = [500, 1000, 2000, 4000, 8000, 16_000, 30_000]

/** Uploads a file: in one request when it is small, in pieces that survive broken connections when it is large. Throws
 * a `KithError` when the server refuses it. */
export async function uploadFile(
  client: Client,
  file: Blob,
  options: UploadFileOptions,
): Promise<CreatedFile> {
  const { resumableFromBytes = defaultResumableFrom } = options
  const goOn = (uploadId: string) =>
    persist(options, (state) => sendRest(client, file, { ...options, uploadId }, state))
  try {
    if (options.uploadId !== undefined) return await goOn(options.uploadId)
  } catch (error) {
    // It has expired meanwhile: its state is of no use any more.
    if (!(error instanceof KithError && error.code === 'E-NOTFOUND')) throw error
  }
  if (file.size < resumableFromBytes) return await uploadAtOnce(client, file, options)
  return await goOn(await begin(client, file, options))
}

async function uploadAtOnce(client: Client, file: Blob, options: UploadFileOptions): Promise<CreatedFile> {
  const { fileName, preset = 'default', tags, parentId, visibility, createdAt, ...how } = options
  const query = {
    ...(tags && tags.length > 0 ? { tags } : {}),
    ...(parentId === undefined ? {} : { parentId }),
    ...(visibility ? { visibility } : {}),
    ...(createdAt ? { createdAt } : {}),
  }
  const params = { preset, fileName }
  const contentType = how.contentType ?? file.type
  if (!jsonForm.test(contentType))
    return (await client.upload(uploadContract, { params, query, body: file }, how)).data
  const form = formOf(file, contentType)
  const request = { params, query, body: form }
  return (
    await client.upload(uploadContract, request, { ...withoutFrame(how, file), contentType: form.type })
  ).data
}

const jsonForm = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/** An upload takes no JSON body: a JSON file is sent as a part of a form. */
function formOf(file: Blob, contentType: string): Blob {
  const boundary = `kith-${crypto.randomUUID()}`
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="file"\r\ncontent-type: ${contentType}\r\n\r\n`
  return new Blob([head, file, `\r\n--${boundary}--\r\n`], {
    type: `multipart/form-data; boundary=${boundary}`,
  })
}

/** The progress of the file alone. */
function withoutFrame({ onProgress, ...how }: UploadOptions, { size }: Blob): UploadOptions {
  if (!onProgress) return how
  return {
    ...how,
    onProgress: ({ sentBytes }) => onProgress({ sentBytes: Math.min(size, sentBytes), totalBytes: size }),
  }
}

async function begin(client: Client, file: Blob, options: UploadFileOptions): Promise<string> {
  const headers = {
    'tus-resumable': tusVersion,
    'upload-length': file.size,
    'upload-metadata': metadataOf(file, options),
  }
  const { data } = await client.call(createUpload, { headers }, options)
  options.onBegun?.(data.uploadId)
  return data.uploadId
}

function metadataOf(file: Blob, options: UploadFileOptions): string {
  const { fileName, contentType = file.type, preset, tags, parentId, visibility, createdAt } = options
  const values: Readonly<Record<string, string | null | undefined>> = {
    filename: fileName,
    filetype: contentType,
    preset,
    tags: tags?.join(','),
    parentId,
    visibility,
    createdAt: createdAt?.toISOString(),
  }
  return Object.entries(values)
    .flatMap(([name, value]) => (value ? [`${name} ${base64(value)}`] : []))
    .join(',')
}

function base64(text: string): string {
  let binary = ''
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** The last known state of an upload. */
interface State {
  offset: number
}

async function sendRest(
  client: Client,
  file: Blob,
  options: UploadFileOptions & { readonly uploadId: string },
  state: State,
): Promise<CreatedFile> {
  const { uploadId, onProgress, signal } = options
  const request = { params: { uploadId }, headers: { 'tus-resumable': tusVersion } }
  while (true) {
    const { data: upload } = await client.call(getUpload, request, options)
    state.offset = upload.offset
    if (upload.fileId !== undefined) return await describe(client, upload.fileId, options)
    const { offset } = upload
    await client.upload(
      continueUpload,
      {
        params: { uploadId },
        headers: { 'tus-resumable': tusVersion, 'upload-offset': offset },
        body: file.slice(offset, offset + pieceBytes),
      },
      {
        contentType: uploadPieceType,
        ...(signal ? { signal } : {}),
        ...(onProgress
          ? {
              onProgress: ({ sentBytes }) =>
                onProgress({ sentBytes: offset + sentBytes, totalBytes: file.size }),
            }
          : {}),
      },
    )
  }
}

async function describe(client: Client, fileId: string, options: UploadFileOptions): Promise<CreatedFile> {
  const { data } = await client.call(getFileMetadata, { params: { fileId } }, options)
  const { status, fileTp, contentType, fileName, tags, createdAt } = data
  return { fileId, status, fileTp, contentType, fileName, tags, createdAt: Date.parse(createdAt) / 1000 }
}

/** Retries temporary failures; progress in between resets the number of attempts. */
async function persist<Result>(
  { retryDelaysMs = defaultDelaysMs, signal }: UploadFileOptions,
  attempt: (state: State) => Promise<Result>,
): Promise<Result> {
  const state: State = { offset: 0 }
  let failures = 0
  while (true) {
    const before = state.offset
    try {
      return await attempt(state)
    } catch (error) {
      if (state.offset > before) failures = 0
      const delayMs = retryDelaysMs[failures]
      if (delayMs === undefined || signal?.aborted || !mayPass(error)) throw error
      failures += 1
      await wait(Math.max(delayMs, waitOf(error)), signal)
    }
  }
}

const passingCodes: ReadonlySet<string> = new Set(['E-UNAVAILABLE', 'E-INTERNAL', 'E-RATELIMIT', 'E-STATE'])

/** Any error other than an answer of the server is a broken connection. */
function mayPass(error: unknown): boolean {
  return error instanceof KithError ? passingCodes.has(error.code) : error instanceof TypeError
}

function waitOf(error: unknown): number {
  return error instanceof KithError ? (error.retryAfterSecs ?? 0) * 1000 : 0
}

function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, delayMs)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
