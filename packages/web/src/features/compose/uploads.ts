import { KithError, uploadFile } from '@kith/client'
import { deleteFile, getUsage, respellFileName } from '@kith/protocol'
import { randomId } from '#lib/random-id.ts'
import { createStore } from '#lib/store.ts'
import { client } from '#platform/client.ts'
import { connection } from '#platform/connection.ts'
import { isPassing } from '#platform/query.ts'
import { resumeSession, session } from '#platform/session.ts'
import { type DraftFile, maxFiles } from './draft.ts'
import { changeDraft, draftStore } from './drafts.ts'
import { saveLater } from './save-draft.ts'

/** A file of a draft on its way to the server. */
export interface Upload {
  readonly state: 'waiting' | 'running' | 'failed'
  readonly sentBytes: number
  readonly error?: unknown
}

interface Source {
  readonly draftId: string
  readonly file: File
  readonly abort: AbortController
}

/** The uploads of drafts by the key of the file. Bound: `maxFiles` for each draft that this tab has opened. */
export const uploads = createStore<ReadonlyMap<string, Upload>>(new Map())
// Bound: as `uploads`.
const sources = new Map<string, Source>()
const previews = new Map<string, string>()

// More would share the line without being faster.
const atOnce = 2

/** Adds files to a draft and uploads them; how many of them were too many. */
export function addFiles(draftId: string, files: readonly File[]): number {
  const draft = draftStore(draftId).get()
  if (!draft) return 0
  const taken = files.slice(0, Math.max(0, maxFiles - draft.files.length))
  const added = taken.map((file): DraftFile => {
    const key = randomId()
    const { name, type, size } = file
    begin(key, draftId, file)
    return { key, fileName: name || 'file', contentType: type || 'application/octet-stream', size }
  })
  changeDraft(draftId, { files: [...draft.files, ...added], changedAt: Date.now() })
  startNext()
  return files.length - taken.length
}

function begin(key: string, draftId: string, file: File): void {
  sources.set(key, { draftId, file, abort: new AbortController() })
  if (file.type.startsWith('image/')) previews.set(key, URL.createObjectURL(file))
  note(key, { state: 'waiting', sentBytes: 0 })
}

function note(key: string, upload: Upload | undefined): void {
  const next = new Map(uploads.get())
  if (upload) next.set(key, upload)
  else next.delete(key)
  uploads.set(next)
}

function startNext(): void {
  const all = [...uploads.get()]
  let running = all.filter(([, { state }]) => state === 'running').length
  for (const [key, { state }] of all) {
    if (state !== 'waiting' || running >= atOnce) continue
    running += 1
    void run(key)
  }
}

async function run(key: string): Promise<void> {
  const source = sources.get(key)
  if (!source) return
  note(key, { state: 'running', sentBytes: 0 })
  try {
    await assertFits(source.file)
    const fileId = await send(key, source)
    note(key, undefined)
    putMember(source.draftId, key, { fileId })
    saveLater(source.draftId)
  } catch (error) {
    if (sources.has(key)) note(key, { state: 'failed', sentBytes: 0, error })
  }
  startNext()
}

async function send(key: string, { file, abort }: Source): Promise<string> {
  const options = {
    fileName: respellFileName(file.name, 'file'),
    signal: abort.signal,
    onProgress: ({ sentBytes }: { readonly sentBytes: number }) =>
      uploads.get().has(key) && note(key, { state: 'running', sentBytes }),
  }
  try {
    return (await uploadFile(client, file, options)).fileId
  } catch (error) {
    // The bytes go past the place that gets a new token.
    const isExpired = error instanceof KithError && error.code === 'E-AUTH-UNAUTH'
    if (!isExpired || !(await resumeSession())) throw error
    return (await uploadFile(client, file, options)).fileId
  }
}

/** Fails before anything is sent where the server would refuse it. */
async function assertFits({ size }: File): Promise<void> {
  const { data } = await client.call(getUsage)
  const { maxFileBytes, limitBytes, usedBytes, reservedBytes } = data
  if (size > maxFileBytes) throw new KithError('', { code: 'E-TOOLARGE', status: 413 })
  const isFull = limitBytes > 0 && usedBytes + reservedBytes + size > limitBytes
  if (isFull) throw new KithError('', { code: 'E-QUOTA', status: 507 })
}

/** Changes one file of a draft. */
export function putMember(draftId: string, key: string, change: Partial<DraftFile>): void {
  const files = draftStore(draftId).get()?.files ?? []
  changeDraft(draftId, { files: files.map((file) => (file.key === key ? { ...file, ...change } : file)) })
}

/** Whether the bytes of a file are at hand: after a reload they have to be chosen again. */
export function hasSource(key: string): boolean {
  return sources.has(key)
}

/** The address of the picture itself while it is in this tab. */
export function previewOf(key: string): string | undefined {
  return previews.get(key)
}

/** Uploads a file once more, with these bytes where the former are no longer at hand. */
export function retryUpload(draftId: string, key: string, file?: File): void {
  if (file) {
    begin(key, draftId, file)
    putMember(draftId, key, {
      fileName: respellFileName(file.name, 'file'),
      contentType: file.type,
      size: file.size,
    })
  } else if (sources.has(key)) note(key, { state: 'waiting', sentBytes: 0 })
  startNext()
}

/** Takes a file out of a draft. What was uploaded for it goes to the trash. */
export function removeFile(draftId: string, file: DraftFile): void {
  const wasAddedHere = sources.has(file.key)
  sources.get(file.key)?.abort.abort()
  forget(file.key)
  const files = draftStore(draftId).get()?.files ?? []
  changeDraft(draftId, { files: files.filter(({ key }) => key !== file.key), changedAt: Date.now() })
  saveLater(draftId)
  if (!wasAddedHere || file.fileId === undefined) return
  client.call(deleteFile, { params: { fileId: file.fileId as never } }).catch(() => undefined)
}

function forget(key: string): void {
  sources.delete(key)
  const preview = previews.get(key)
  if (preview !== undefined) URL.revokeObjectURL(preview)
  previews.delete(key)
  note(key, undefined)
}

/** Forgets the bytes of files whose draft is gone. */
export function forgetSources(files: readonly DraftFile[]): void {
  for (const { key } of files) forget(key)
}

/** What failed for want of a connection or a session goes on when there is one again. */
function retryPassing(): void {
  for (const [key, { state, error }] of uploads.get()) {
    const isSignedOut = error instanceof KithError && error.code === 'E-AUTH-UNAUTH'
    if (state === 'failed' && (isPassing(error) || isSignedOut)) note(key, { state: 'waiting', sentBytes: 0 })
  }
  startNext()
}

window.addEventListener('online', retryPassing)
connection.subscribe(() => connection.get() === 'open' && retryPassing())
session.subscribe(() => session.get().state === 'signed-in' && retryPassing())
