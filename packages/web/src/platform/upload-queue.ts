import { KithError } from '@kith/client'
import { endUpload, tusVersion } from '@kith/protocol'
import { randomId } from '#lib/random-id.ts'
import { createTransferRate } from '#lib/transfer-rate.ts'
import { compareForKeeping, compareForSending } from '#lib/upload-plan.ts'
import { client } from './client.ts'
import { dropUpload, type FoundUpload, keepBytes, keepUploads, takeOverUploads } from './kept-uploads.ts'
import { isPassing } from './query.ts'
import { resumeSession, session } from './session.ts'
import { type FileToSend, type Job, keptOf, sendJob } from './upload-job.ts'
import { noUploads, type Upload, uploads } from './uploads.ts'
import { beforeWipe } from './wipe.ts'

// More would not be faster on one connection.
const atOnce = 3
const againAfterMs = 5_000
// Each telling renders what is shown of them.
const toldEveryMs = 200

// Bound: what was dropped and chosen until the list is cleared.
const jobs = new Map<number, Job>()
const rate = createTransferRate()
let lastId = 0
let finishedBytes = 0
let interruption: ReturnType<typeof setTimeout> | undefined
// Bound: those that are being sent.
const untold = new Map<number, number>()

/** Adds files to the queue: pictures first, large films last. Folders are made when the first file in them has its turn. */
export function enqueue(files: readonly FileToSend[]): void {
  const folderIds = new Map<string, Promise<string>>()
  const batch = randomId()
  const added = files.map(({ file, replaces, refusal, ...place }): Job => {
    const { name: fileName, size, type, lastModified } = file
    const about = { ...place, fileName, size, type, lastModified, replaces, refusal }
    const begun = { uploadId: undefined, isUncertain: false, isKept: false, isDone: false }
    return { ...about, ...begun, key: randomId(), batch, file, folderIds }
  })
  take(added)
  void keepAll(added.filter(({ refusal }) => !refusal))
}

function take(added: readonly Job[]): void {
  const items = added.map((job): Upload => {
    lastId += 1
    jobs.set(lastId, job)
    const base = { id: lastId, name: job.name, size: job.size, type: job.type, sentBytes: 0 }
    if (job.refusal) return { ...base, state: 'failed', error: job.refusal }
    return { ...base, state: job.file ? 'waiting' : 'absent' }
  })
  change({ items: [...uploads.get().items, ...items] })
  pump()
}

/** Has the device keep what waits: first what they are, then the bytes, as long as they are not sent yet. */
async function keepAll(added: readonly Job[]): Promise<void> {
  await keepUploads(added.map(keptOf))
  for (const job of added.toSorted(compareForKeeping)) {
    if (!job.file || job.isDone) continue
    const startedAt = performance.now()
    job.isKept = await keepBytes(job.key, job.file)
    // Half of the disk's time is left to what is sent.
    const tookMs = performance.now() - startedAt
    await new Promise((resolve) => setTimeout(resolve, tookMs))
  }
}

/** Goes on with what was not finished when a page was left. */
export async function resumeKept(): Promise<void> {
  const folderIds = new Map<string, Map<string, Promise<string>>>()
  const foldersOf = (batch: string) => {
    const known = folderIds.get(batch) ?? new Map<string, Promise<string>>()
    folderIds.set(batch, known)
    return known
  }
  await takeOverUploads((found) => take(found.map((one) => jobOf(one, foldersOf(one.upload.batch)))))
}

function jobOf({ upload, file }: FoundUpload, folderIds: Job['folderIds']): Job {
  const { tab: _, ...about } = upload
  return { ...about, file, folderIds, refusal: undefined, isKept: file !== undefined, isDone: false }
}

/** Takes files that were chosen again, for the uploads whose bytes are not there. Answers how many were meant. */
export function giveFiles(files: readonly File[]): number {
  let given = 0
  for (const { id, state } of uploads.get().items) {
    const job = jobs.get(id)
    if (state !== 'absent' || !job) continue
    job.file = files.find(
      ({ name, size, lastModified }) =>
        name === job.fileName && size === job.size && lastModified === job.lastModified,
    )
    if (!job.file) continue
    given += 1
    put(id, { state: 'waiting' })
  }
  pump()
  return given
}

export function pauseUploads(): void {
  change({ isPaused: true })
  for (const { id, state } of uploads.get().items) if (state === 'sending') jobs.get(id)?.abort?.abort()
}

export function resumeUploads(): void {
  change({ isPaused: false })
  goOn()
}

/** Sends those that failed once more, or one of them. */
export function retryUploads(only?: number): void {
  for (const { id, state } of uploads.get().items)
    if (state === 'failed' && (only === undefined || id === only) && !jobs.get(id)?.refusal)
      put(id, { state: 'waiting', error: undefined })
  pump()
}

/** Takes an upload off the list, and stops it. */
export function cancelUpload(id: number): void {
  const { items } = uploads.get()
  change({ items: items.filter((item) => item.id !== id) })
  end(id)
  pump()
}

/** Stops all, and clears the list. */
export function clearUploads(): void {
  uploads.set(noUploads)
  for (const id of [...jobs.keys()]) end(id)
}

function end(id: number): void {
  const job = jobs.get(id)
  jobs.delete(id)
  if (!job || job.isDone) return
  job.isDone = true
  job.abort?.abort()
  void dropUpload(job.key)
  const { uploadId } = job
  if (uploadId === undefined) return
  // What has arrived takes room until somebody says that it is not wanted.
  const request = { params: { uploadId }, headers: { 'tus-resumable': tusVersion } }
  void client.call(endUpload, request).catch(() => undefined)
}

function change(part: Partial<typeof noUploads>): void {
  uploads.set({ ...uploads.get(), ...part })
}

function put(id: number, part: Partial<Upload>): void {
  tell(uploads.get().items.map((item) => (item.id === id ? { ...item, ...part } : item)))
}

function noteProgress(id: number, sentBytes: number): void {
  if (untold.size === 0) setTimeout(tellProgress, toldEveryMs)
  untold.set(id, sentBytes)
}

function tellProgress(): void {
  tell(
    uploads.get().items.map((item) => {
      const sentBytes = item.state === 'sending' ? untold.get(item.id) : undefined
      return sentBytes === undefined ? item : { ...item, sentBytes }
    }),
  )
  untold.clear()
}

function tell(items: readonly Upload[]): void {
  const sent = items.reduce((sum, { state, sentBytes }) => sum + (state === 'sending' ? sentBytes : 0), 0)
  rate.note(finishedBytes + sent, Date.now())
  change({ items, rate: rate.at(Date.now()) })
}

/** Starts as many uploads as may run. */
function pump(): void {
  const { items, isPaused, isInterrupted } = uploads.get()
  if (isPaused || isInterrupted) return
  const running = items.filter(({ state }) => state === 'sending').length
  const next = items.filter(({ state }) => state === 'waiting' || state === 'paused').sort(compareForSending)
  for (const { id } of next.slice(0, Math.max(0, atOnce - running))) void send(id)
}

async function send(id: number): Promise<void> {
  const job = jobs.get(id)
  if (!job) return
  const abort = new AbortController()
  job.abort = abort
  put(id, { state: 'sending' })
  try {
    await sendJob(job, {
      signal: abort.signal,
      onBegun: () => void (!job.isDone && keepUploads([keptOf(job)])),
      onProgress: (sentBytes) => noteProgress(id, sentBytes),
    })
    finishedBytes += job.size
    job.isDone = true
    await dropUpload(job.key)
    put(id, { state: 'done', sentBytes: job.size })
  } catch (error) {
    if (jobs.get(id) !== job) return
    if (abort.signal.aborted) put(id, { state: 'paused' })
    else await takeFailure(id, error)
  }
  pump()
}

async function takeFailure(id: number, error: unknown): Promise<void> {
  if (error instanceof KithError && error.code === 'E-AUTH-UNAUTH') {
    put(id, { state: 'waiting' })
    if (!(await resumeSession().catch(() => false))) change({ isInterrupted: true })
  } else if (isPassing(error)) {
    put(id, { state: 'waiting' })
    interrupt(error instanceof KithError ? (error.retryAfterSecs ?? 0) * 1000 : 0)
  } else put(id, { state: 'failed', error })
}

function interrupt(waitMs: number): void {
  change({ isInterrupted: true })
  clearTimeout(interruption)
  interruption = setTimeout(goOn, Math.max(againAfterMs, waitMs))
}

function goOn(): void {
  clearTimeout(interruption)
  change({ isInterrupted: false })
  pump()
}

window.addEventListener('online', goOn)
beforeWipe(() => {
  for (const job of jobs.values()) job.isKept = false
})
session.subscribe(() => {
  if (session.get().state === 'signed-in' && uploads.get().isInterrupted) goOn()
})
window.addEventListener('beforeunload', (event) => {
  const { items } = uploads.get()
  const isLost = ({ id, state }: Upload) =>
    (state === 'sending' || state === 'waiting') && jobs.get(id)?.isKept !== true
  if (items.some(isLost)) event.preventDefault()
})
