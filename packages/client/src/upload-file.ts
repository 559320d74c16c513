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
import { randomId } from './random-id.ts'

/** Metadata of the uploaded file, and how to send it. */
export interface UploadFileOptions extends UploadOptions {
  readonly fileName: string
  readonly preset?: UploadPreset
  readonly tags?: readonly string[]
  /** The id of the folder that gets the file. */
  readonly parentId?: string
  readonly visibility?: Visibility
  /** The id of a file whose place this one takes, with its folder, tags and visibility. */
  readonly replaces?: string
  /** When the content was made, if that was before the upload. */
  readonly createdAt?: Date
  /** From this size on, a file is sent in pieces and resumed after a broken connection; 16 MiB when absent. */
  readonly resumableFromBytes?: number
  /** Called with the id of a new upload in pieces; pass it as `uploadId` to resume later. */
  readonly onBegun?: (uploadId: string) => void
  /** Resumes an upload in pieces of the same file. */
  readonly uploadId?: string
  /** The delays after consecutive temporary failures, in ms. One more failure after the last delay is thrown. */
  readonly retryDelaysMs?: readonly number[]
}

const mebibyte = 1024 * 1024
const defaultResumableFrom = 16 * mebibyte
// Few requests, and within the limits of common proxies.
const pieceBytes = 16 * mebibyte
const defaultDelaysMs = [500, 1000, 2000, 4000, 8000, 16_000, 30_000]

/** Uploads a file: a small one in one request, a large one in pieces, which are resumed after broken connections. Throws a
 * `KithError` when the server refuses it. */
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
    // The upload has expired: a new one begins below.
    if (!(error instanceof KithError && error.code === 'E-NOTFOUND')) throw error
  }
  if (file.size < resumableFromBytes) return await uploadAtOnce(client, file, options)
  return await goOn(await begin(client, file, options))
}

async function uploadAtOnce(client: Client, file: Blob, options: UploadFileOptions): Promise<CreatedFile> {
  const { fileName, preset = 'default', tags, parentId, visibility, replaces, createdAt, ...how } = options
  const query = {
    ...(tags && tags.length > 0 ? { tags } : {}),
    ...(parentId === undefined ? {} : { parentId }),
    ...(visibility ? { visibility } : {}),
    ...(replaces === undefined ? {} : { replaces }),
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
  const boundary = `kith-${randomId()}`
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="file"\r\ncontent-type: ${contentType}\r\n\r\n`
  return new Blob([head, file, `\r\n--${boundary}--\r\n`], {
    type: `multipart/form-data; boundary=${boundary}`,
  })
}

/** Reports the progress of the file alone, without the bytes of the form around it. */
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
  const { fileName, contentType = file.type, preset, tags, createdAt } = options
  const { parentId, visibility, replaces } = options
  const values: Readonly<Record<string, string | null | undefined>> = {
    filename: fileName,
    filetype: contentType,
    preset,
    tags: tags?.join(','),
    parentId,
    visibility,
    replaces,
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

/** What the server has received so far. */
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

/** Whether a failure is temporary: some codes of the server, and broken connections, for which `fetch` throws a `TypeError`. */
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
