import { KithError } from '@kith/client'
import { type FileView, getUsage, listFiles, respellFileName } from '@kith/protocol'
import type { PlacedFile } from '#lib/dropped-files.ts'
import { freeName, refusalsOf } from '#lib/upload-plan.ts'
import { client } from '#platform/client.ts'
import type { FileToSend } from '#platform/upload-job.ts'
import { enqueue } from '#platform/upload-queue.ts'

/** Files that were dropped or chosen, before it is known what becomes of names that are there already. */
export interface Arrival {
  readonly files: readonly PlacedFile[]
  readonly parentId: string | undefined
  /** Names of this arrival that the folder has already. */
  readonly doubles: readonly string[]
  /** Whether each of them is a file that another file can take the place of. */
  readonly areReplaceable: boolean
  readonly taken: ReadonlyMap<string, FileView>
}

/** What becomes of names that are there already: a number after the new one, its place for the new one, or neither. */
export type DoublesAnswer = 'number' | 'replace' | 'skip'

/** Files with their names, and what is known of the room for them. */
export interface Ready {
  readonly arrival: Arrival
  readonly doubles: DoublesAnswer
  readonly files: readonly FileToSend[]
  /** By how much the account is too small for all of them. */
  readonly missingBytes: number
}

// Of a folder with more names than these the later ones are not compared.
const comparedAtMost = 5_000

/** Looks up which of the names the folder has already. */
export async function lookAtNames(
  files: readonly PlacedFile[],
  parentId: string | undefined,
): Promise<Arrival> {
  const taken = new Map<string, FileView>()
  const place = parentId === undefined ? ({ parentId: '__root__', origin: 'own' } as const) : { parentId }
  const query = { ...place, limit: 200, sort: 'name', sortDir: 'asc' } as const
  for await (const page of client.pages(listFiles, { query })) {
    for (const file of page) taken.set(file.fileName, file)
    if (taken.size >= comparedAtMost) break
  }
  const areFolders = new Map(files.map((file) => [topNameOf(file), file.folders.length > 0]))
  const doubles = [...areFolders.keys()].filter((name) => taken.has(name))
  const areReplaceable = doubles.every((name) => !areFolders.get(name) && isReplaceable(taken.get(name)))
  return { files, parentId, taken, doubles, areReplaceable }
}

const topNameOf = ({ file, folders: [top] }: PlacedFile) =>
  top === undefined ? nameOf(file) : folderNameOf(top)

// As the server keeps it: some systems write accents apart.
const nameOf = (file: File) => respellFileName(file.name, 'file')
const folderNameOf = (name: string) => respellFileName(name, 'folder')

const isReplaceable = (file: FileView | undefined) => file?.fileTp === 'BLOB' && file.x?.home === undefined

/** Gives files their names, and looks whether there is room for them. */
export async function makeReady(arrival: Arrival, doubles: DoublesAnswer): Promise<Ready> {
  const { taken } = arrival
  const wanted = arrival.files.filter((file) => doubles !== 'skip' || !taken.has(topNameOf(file)))
  const { data: usage } = await client.call(getUsage)
  const { limitBytes, usedBytes, reservedBytes, maxFileBytes } = usage
  const freeBytes = limitBytes === 0 ? undefined : Math.max(0, limitBytes - usedBytes - reservedBytes)
  const sized = wanted.map(({ file }) => file)
  const refusals = refusalsOf(sized, { freeBytes, maxFileBytes })
  const wantedBytes = sized.reduce((sum, { size }) => sum + (size > maxFileBytes ? 0 : size), 0)
  const missingBytes = Math.max(0, wantedBytes - (freeBytes ?? Number.POSITIVE_INFINITY))
  const named = nameFiles(wanted, arrival, doubles)
  const files = named.map((file, index) => {
    const refusal = refusals[index]
    return refusal ? { ...file, refusal: new KithError(refusal, { code: refusal, status: 0 }) } : file
  })
  return { arrival, doubles, files, missingBytes }
}

/** Puts files into the queue. What cannot find room is named there, not sent. */
export function send({ files }: Ready): void {
  enqueue(files)
}

function nameFiles(
  files: readonly PlacedFile[],
  { parentId, taken }: Arrival,
  doubles: DoublesAnswer,
): readonly FileToSend[] {
  const used = new Set(taken.keys())
  const replaceable = new Map(doubles === 'replace' ? taken : [])
  const folderNames = new Map<string, string>()
  return files.map(({ file, folders: [top, ...below] }) => {
    if (top !== undefined) {
      const folder = folderNames.get(top) ?? claim(folderNameOf(top), used)
      folderNames.set(top, folder)
      return { file, name: nameOf(file), parentId, folders: [folder, ...below.map(folderNameOf)] }
    }
    const replaced = replaceable.get(nameOf(file))
    // A second file of the name does not take the place of the first.
    replaceable.delete(nameOf(file))
    if (replaced && isReplaceable(replaced))
      return { file, name: nameOf(file), parentId, folders: [], replaces: replaced.fileId }
    return { file, name: claim(nameOf(file), used), parentId, folders: [] }
  })
}

function claim(name: string, used: Set<string>): string {
  const free = freeName(name, used)
  used.add(free)
  return free
}
