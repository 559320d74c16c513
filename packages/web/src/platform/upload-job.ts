import { type KithError, uploadFile } from '@kith/client'
import { createFile, listFiles, maxSearchWords } from '@kith/protocol'
import { client } from './client.ts'
import { findFolder, type KeptUpload, keepFolder } from './kept-uploads.ts'

/** A file to be sent, and where to. */
export interface FileToSend {
  readonly file: File
  /** What it is called there. */
  readonly name: string
  readonly parentId: string | undefined
  /** The new folders below `parentId` that it lies in. */
  readonly folders: readonly string[]
  /** The id of the file whose place it takes. */
  readonly replaces?: string | undefined
  /** Why it is not sent. */
  readonly refusal?: KithError
}

/** An upload of this tab, with what is known of its way so far. */
export interface Job {
  /** By which the device keeps it. */
  readonly key: string
  readonly batch: string
  readonly name: string
  readonly parentId: string | undefined
  readonly folders: readonly string[]
  readonly replaces: string | undefined
  readonly size: number
  readonly fileName: string
  readonly type: string
  readonly lastModified: number
  /** Undefined until it is chosen again. */
  file: File | undefined
  /** Of those of one choice or drop: folders are made once for all files in them. */
  readonly folderIds: Map<string, Promise<string>>
  refusal: KithError | undefined
  /** Of an upload in pieces that was interrupted: it goes on where it was. */
  uploadId: string | undefined
  /** It was sent, and what became of it is not known. */
  isUncertain: boolean
  /** Its bytes outlast the page. */
  isKept: boolean
  /** It has arrived, or nobody wants it any more. */
  isDone: boolean
  abort?: AbortController
}

/** What the device keeps of a job. */
export function keptOf(job: Job): Omit<KeptUpload, 'tab'> {
  const { key, batch, name, parentId, folders, replaces } = job
  const { fileName, size, type, lastModified, uploadId, isUncertain } = job
  return {
    ...{ key, batch, name, parentId, folders, replaces },
    ...{ fileName, size, type, lastModified, uploadId, isUncertain },
  }
}

interface Sending {
  readonly signal: AbortSignal
  /** Before the first byte goes, and once an upload in pieces has its id. */
  readonly onBegun: () => void
  readonly onProgress: (sentBytes: number) => void
}

/** Sends the bytes of a job, or what is missing of them. */
export async function sendJob(job: Job, { signal, onBegun, onProgress }: Sending): Promise<void> {
  const { file, uploadId, replaces } = job
  if (!file) throw new TypeError('a file that is not there cannot be sent')
  const parentId = await folderOf(job)
  if (job.isUncertain && uploadId === undefined && (await hasArrived(job, parentId))) return
  job.isUncertain = true
  onBegun()
  await uploadFile(client, file, {
    fileName: job.name,
    ...(replaces === undefined ? (parentId === undefined ? {} : { parentId }) : { replaces }),
    ...(uploadId === undefined ? {} : { uploadId }),
    createdAt: createdAtOf(job),
    signal,
    // The queue waits for all its files together.
    retryDelaysMs: [],
    onBegun: (id) => {
      job.uploadId = id
      onBegun()
    },
    onProgress: ({ sentBytes }) => onProgress(Math.min(sentBytes, job.size)),
  })
}

const createdAtOf = ({ lastModified }: Job) => new Date(Math.floor(lastModified / 1000) * 1000)

/** Whether a file of which no answer came is there all the same: it is known by its name, its size and its time. */
async function hasArrived(job: Job, parentId: string | undefined): Promise<boolean> {
  const query = { parentId: parentId ?? '__root__', search: firstWords(job.name), limit: 100 }
  const createdAt = createdAtOf(job).getTime()
  const { data } = await client.call(listFiles, { query })
  return data.some(
    (file) =>
      file.fileName === job.name && file.size === job.size && Date.parse(file.createdAt) === createdAt,
  )
}

/** As much of a name as a search takes. */
function firstWords(name: string): string {
  const words = name.split(/\s+/).slice(0, maxSearchWords).join(' ')
  return [...words].slice(0, 100).join('')
}

/** The id of the folder that gets the file. */
async function folderOf({ parentId, folders, folderIds, batch }: Job): Promise<string | undefined> {
  let place = parentId
  for (const index of folders.keys()) {
    const path = folders.slice(0, index + 1)
    const name = path.join('/')
    const known = folderIds.get(name) ?? findOrMake(batch, path, place)
    folderIds.set(name, known)
    known.catch(() => folderIds.delete(name))
    place = await known
  }
  return place
}

async function findOrMake(batch: string, path: readonly string[], above: string | undefined) {
  const name = path.join('/')
  const kept = await findFolder(batch, name)
  if (kept !== undefined) return kept
  const body = {
    fileTp: 'FLDR' as const,
    fileName: path.at(-1) ?? '',
    ...(above === undefined ? {} : { parentId: above }),
  }
  const { fileId } = (await client.call(createFile, { body })).data
  await keepFolder(batch, name, fileId)
  return fileId
}
