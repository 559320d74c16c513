import { blindName, openBytes, type Sealed, type SealingKeys, sealBytes } from '#lib/sealing.ts'
import { bearerAge, isForgotten } from './bearer.ts'
import { ask, openTables } from './tables.ts'

interface Picture extends Sealed {
  readonly id: string
  readonly size: number
  readonly usedAt: number
  readonly type: string
}

const database = 'kith-pictures'
const maxPictureBytes = 400_000
const maxBytes = 200_000_000
// Of what the browser grants.
const maxShare = 0.1
const pruneEach = 50

let keys: SealingKeys | undefined
let opening: Promise<IDBDatabase | undefined> | undefined
let written = 0

/** Whether a request is for a picture that is kept: one of a file or a profile, as pages show them. */
export function isKeptPicture({ destination, url }: Request): boolean {
  const { pathname } = new URL(url)
  return destination === 'image' && /^\/api\/(files\/[^/]+|profiles\/[^/]+\/(image|cover))$/.test(pathname)
}

/** The picture as the server gives it, which decides each time who may see it; the kept one where it cannot be reached. */
export async function answerPicture(
  request: Request,
  load: () => Promise<Response>,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const name = `${pathname}?${search.slice(1)}`
  const since = bearerAge()
  try {
    const answer = await load()
    if (isSmall(answer)) waitUntil(keep(name, answer.clone(), since).catch(() => undefined))
    return answer
  } catch (error) {
    const kept = await read(name).catch(() => undefined)
    if (!kept) throw error
    return kept
  }
}

function isSmall({ ok, headers }: Response): boolean {
  const bytes = Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY)
  return ok && bytes <= maxPictureBytes && (headers.get('content-type') ?? '').startsWith('image/')
}

/** Keeps a picture, unless the session with which it was asked for has ended meanwhile. */
async function keep(name: string, answer: Response, since: number): Promise<void> {
  const db = since === bearerAge() ? await open() : undefined
  if (!db || !keys) return
  const id = await blindName(keys, name)
  // A file never changes under its id.
  if (name.startsWith('/api/files/') && (await ask(tableOf(db, 'readonly').count(id))) > 0) return
  const bytes = new Uint8Array(await answer.arrayBuffer())
  const type = answer.headers.get('content-type') ?? ''
  const sealed = await sealBytes(keys, name, bytes)
  if (since !== bearerAge()) return
  const picture: Picture = { id, size: bytes.byteLength, usedAt: Date.now(), type, ...sealed }
  await ask(tableOf(db, 'readwrite').put(picture))
  written += 1
  if (written % pruneEach === 0) await prune(db)
}

async function read(name: string): Promise<Response | undefined> {
  const db = await open()
  if (!db || !keys) return undefined
  const picture = (await ask(tableOf(db, 'readonly').get(await blindName(keys, name)))) as Picture | undefined
  if (!picture) return undefined
  await ask(tableOf(db, 'readwrite').put({ ...picture, usedAt: Date.now() }))
  return new Response(await openBytes(keys, name, picture), { headers: { 'content-type': picture.type } })
}

/** Removes what was not looked at for longest, until the rest is within the bounds. */
async function prune(db: IDBDatabase): Promise<void> {
  const { quota = Number.POSITIVE_INFINITY } = await navigator.storage.estimate()
  const most = Math.min(maxBytes, quota * maxShare)
  let bytes = 0
  const cursors = tableOf(db, 'readwrite').index('use').openKeyCursor(null, 'prev')
  await new Promise<void>((resolve, reject) => {
    cursors.onerror = () => reject(cursors.error)
    cursors.onsuccess = () => {
      const cursor = cursors.result
      if (!cursor) return resolve()
      const [, size] = cursor.key as [number, number]
      bytes += size
      if (bytes > most) tableOf(db, 'readwrite').delete(cursor.primaryKey)
      cursor.continue()
    }
  })
}

function tableOf(db: IDBDatabase, mode: IDBTransactionMode): IDBObjectStore {
  return db.transaction('pictures', mode).objectStore('pictures')
}

/** Removes what is kept. Pages delete the database too; this one also ends what the worker had begun to store before it
 * heard that the session had ended. */
export async function forgetPictures(): Promise<void> {
  const opened = opening
  letGo()
  await opened
  const removal = indexedDB.deleteDatabase(database)
  // It goes when the last one has closed it.
  await new Promise((resolve) => {
    removal.onblocked = removal.onsuccess = removal.onerror = resolve
  })
}

/** Lets go of the key: what is kept is about to be removed. */
function letGo(): void {
  const opened = opening
  keys = undefined
  opening = undefined
  void opened?.then((db) => db?.close())
}

/** Opened while the app keeps things here at all, and let go when everything is removed. */
function open(): Promise<IDBDatabase | undefined> {
  opening ??= openNow().catch(() => undefined)
  return opening.then((db) => {
    // Who uses the device may have signed in since.
    if (!db) opening = undefined
    return db
  })
}

async function openNow(): Promise<IDBDatabase | undefined> {
  const since = bearerAge()
  const isOver = () => isForgotten() || since !== bearerAge()
  const present = await indexedDB.databases()
  if (isOver() || !present.some(({ name }) => name === 'kith-key')) return undefined
  const keyTables = await openTables('kith-key')
  const asked = ask(keyTables.transaction('keys').objectStore('keys').get('present'))
  // What was asked is answered all the same.
  keyTables.close()
  const found = (await asked) as SealingKeys | undefined
  if (!found || isOver()) return undefined
  keys = found
  const db = await openTables(database, (created) =>
    created.createObjectStore('pictures', { keyPath: 'id' }).createIndex('use', ['usedAt', 'size']),
  )
  db.onversionchange = () => {
    db.close()
    letGo()
  }
  return db
}
