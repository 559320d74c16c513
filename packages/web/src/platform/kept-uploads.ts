import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import { randomId } from '#lib/random-id.ts'
import { forgetUploadsKept, noteUploadsKept, uploadsDatabase } from './uploads.ts'
import { beforeWipe, mayKeep } from './wipe.ts'

/** An upload that is to go on after the page was left, in a form that a browser keeps. */
export interface KeptUpload {
  readonly key: string
  /** The tab that sends it. */
  readonly tab: string
  /** Those of one choice or drop: they share the folders that are made for them. */
  readonly batch: string
  readonly name: string
  readonly parentId: string | undefined
  readonly folders: readonly string[]
  readonly replaces: string | undefined
  /** Of the file on the device: by these it is known again. */
  readonly fileName: string
  readonly size: number
  readonly type: string
  readonly lastModified: number
  /** Of an upload in pieces. */
  readonly uploadId: string | undefined
  /** It was sent, and what became of it is not known. */
  readonly isUncertain: boolean
}

interface Tables extends DBSchema {
  uploads: { key: string; value: KeptUpload }
  bytes: { key: string; value: File }
  folders: { key: string; value: string }
}

// A film of hours is chosen again instead: a copy would take the room of the device, and minutes to make.
const keptFileBytes = 256 * 2 ** 20
const keptBytes = 1024 * 2 ** 20

const tab = randomId()
let opening: Promise<IDBPDatabase<Tables> | undefined> | undefined
let holding: Promise<void> | undefined
// Bound: the uploads of this tab.
const sizes = new Map<string, number>()

/** The database; undefined where the browser keeps none, and once the session has ended. */
async function database(): Promise<IDBPDatabase<Tables> | undefined> {
  if (!mayKeep()) return undefined
  opening ??= open().catch(() => undefined)
  return await opening
}

async function open(): Promise<IDBPDatabase<Tables>> {
  holding ??= holdTab()
  await holding
  if (!mayKeep()) throw new Error('the session has ended')
  return await openDB<Tables>(uploadsDatabase, 1, {
    upgrade(db) {
      db.createObjectStore('uploads', { keyPath: 'key' })
      db.createObjectStore('bytes')
      db.createObjectStore('folders')
    },
    // Whoever signs out deletes it.
    blocking(_from, _to, event) {
      opening = undefined
      ;(event.target as IDBDatabase).close()
    },
  })
}

beforeWipe(() => {
  void opening?.then((db) => db?.close())
  opening = undefined
})

/** As long as the tab lives others leave its uploads to it. */
async function holdTab(): Promise<void> {
  if (!navigator.locks) return
  const held = Promise.withResolvers<void>()
  void navigator.locks.request(lockOf(tab), () => {
    held.resolve()
    return new Promise(() => undefined)
  })
  await held.promise
}

const lockOf = (name: string) => `kith-uploads:${name}`

/** Keeps what is known of uploads. */
export async function keepUploads(kept: readonly Omit<KeptUpload, 'tab'>[]): Promise<void> {
  await attempt(async (db) => {
    const transaction = db.transaction('uploads', 'readwrite')
    for (const upload of kept) void transaction.store.put({ ...upload, tab })
    await transaction.done
    if (mayKeep()) noteUploadsKept()
  })
}

/** Keeps the bytes of an upload, where they find room: false where the file has to be chosen again. */
export async function keepBytes(key: string, file: File): Promise<boolean> {
  const taken = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  if (file.size > keptFileBytes || taken + file.size > keptBytes) return false
  const isKept = await attempt(async (db) => {
    const transaction = db.transaction(['uploads', 'bytes'], 'readwrite')
    // It may have arrived meanwhile.
    const isWanted = (await transaction.objectStore('uploads').count(key)) > 0
    if (isWanted) await transaction.objectStore('bytes').put(file, key)
    await transaction.done
    return isWanted
  })
  if (isKept) sizes.set(key, file.size)
  return isKept === true
}

/** Forgets an upload that is done, or given up. */
export async function dropUpload(key: string): Promise<void> {
  sizes.delete(key)
  await attempt(async (db) => {
    const transaction = db.transaction(['uploads', 'bytes', 'folders'], 'readwrite')
    await transaction.objectStore('uploads').delete(key)
    await transaction.objectStore('bytes').delete(key)
    const left = await transaction.objectStore('uploads').count()
    if (left === 0) await transaction.objectStore('folders').clear()
    await transaction.done
    if (left === 0) forgetUploadsKept()
  })
}

const folderKey = (batch: string, path: string) => `${batch}/${path}`

/** Keeps which folder was made for a path, so that it is not made twice. */
export async function keepFolder(batch: string, path: string, folderId: string): Promise<void> {
  await attempt((db) => db.put('folders', folderId, folderKey(batch, path)))
}

export async function findFolder(batch: string, path: string): Promise<string | undefined> {
  return await attempt((db) => db.get('folders', folderKey(batch, path)))
}

/** An upload of a page that was left, with its bytes where they were kept. */
export interface FoundUpload {
  readonly upload: KeptUpload
  readonly file: File | undefined
}

/** Takes over the uploads of pages that were left, now and when tabs are closed. Those of tabs that are there stay theirs:
 * browsers tell of tabs by locks, which they do not have over plain http. */
export async function takeOverUploads(onFound: (found: readonly FoundUpload[]) => void): Promise<void> {
  if (!navigator.locks) return
  const taken = await navigator.locks.request(lockOf('taking over'), () => attempt(adopt))
  if (!taken) return
  onFound(taken.found)
  for (const other of taken.others)
    void navigator.locks.request(lockOf(other), () => undefined).then(() => takeOverUploads(onFound))
}

async function adopt(db: IDBPDatabase<Tables>) {
  const { held = [] } = await navigator.locks.query()
  const living = new Set(held.map(({ name }) => name))
  const found: FoundUpload[] = []
  // Tabs that are there, and may be closed later.
  const others = new Set<string>()
  for (const upload of await db.getAll('uploads')) {
    if (upload.tab === tab) continue
    if (living.has(lockOf(upload.tab))) {
      others.add(upload.tab)
      continue
    }
    const file = await db.get('bytes', upload.key)
    if (file) sizes.set(upload.key, file.size)
    await db.put('uploads', { ...upload, tab })
    found.push({ upload, file })
  }
  if ((await db.count('uploads')) === 0) forgetUploadsKept()
  return { found, others }
}

/** Without room on the device, uploads last as long as their page. */
async function attempt<Result>(
  work: (db: IDBPDatabase<Tables>) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    const db = await database()
    return db && (await work(db))
  } catch {
    return undefined
  }
}
