import { decodeBase64Url, type LoginSession } from '@kith/protocol'
import type { DBSchema, IDBPDatabase } from 'idb'
import { blindName, deriveKeys, openValue, type Sealed, type SealingKeys, sealValue } from '#lib/sealing.ts'
import { createStore } from '#lib/store.ts'
import { beforeWipe, wipeAge } from './wipe.ts'

/** Whether this device keeps what was read. `none`: it cannot; `full`: it has no more room. */
export const keeping = createStore<'not-yet' | 'on' | 'full' | 'none'>('not-yet')

interface Row extends Sealed {
  readonly id: string
  readonly savedAt: number
}

interface KeptTables extends DBSchema {
  content: { key: string; value: Row; indexes: { savedAt: number } }
  outbox: { key: string; value: Row }
}

interface KeyTables extends DBSchema {
  keys: { key: string; value: SealingKeys }
}

/** Who uses this device, without anything that the server would take as a proof of it. */
export type KeptLogin = Omit<LoginSession, 'token' | 'expiresAt' | 'swEncryptionKey'>

interface Held {
  readonly db: IDBPDatabase<KeptTables>
  readonly keys: SealingKeys
}

const maxRowBytes = 1_000_000
const maxBytes = 40_000_000
const maxRows = 2_000
const maxAgeMs = 30 * 24 * 60 * 60_000
const pruneEach = 200
const loginName = 'login'

let held: Held | undefined
let writtenRows = 0
let opening: Promise<unknown> = Promise.resolve()

/** Keeps things for who has signed in. What was kept for somebody else, or with another key, is removed. */
export function keepFor(login: LoginSession): Promise<void> {
  const since = wipeAge()
  return inTurn(async () => {
    try {
      held ??= await openFor(login, since)
      const { token, expiresAt, swEncryptionKey, ...kept } = login
      await put([await rowOf(held, { name: loginName, value: kept, savedAt: Date.now() })])
      throwIfWiped(since)
      keeping.set('on')
    } catch (error) {
      letGo()
      if (since === wipeAge()) keeping.set(isFull(error) ? 'full' : 'none')
    }
  })
}

/** Who has used this device last, and makes what is kept for them readable; undefined where there is nothing. */
export function openKept(): Promise<KeptLogin | undefined> {
  const since = wipeAge()
  return inTurn(async () => {
    try {
      const keys = await withKeys(since, (table) => table.get('keys', 'present'))
      if (!keys) return undefined
      held ??= { db: await openTables(since), keys }
      const login = await readKept(loginName)
      throwIfWiped(since)
      keeping.set('on')
      return login?.value as KeptLogin | undefined
    } catch {
      letGo()
      return undefined
    }
  })
}

function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const done = opening.then(work)
  opening = done.catch(() => undefined)
  return done
}

async function openFor({ swEncryptionKey = '', idTag }: LoginSession, since: number): Promise<Held> {
  // Pages over plain http have no cryptography, and with it no place to keep things.
  const secret = new Uint8Array(decodeBase64Url(swEncryptionKey) ?? [])
  if (secret.length !== 32 || crypto.subtle === undefined) throw new Error('there is no key')
  const found = { db: await openTables(since), keys: await deriveKeys(secret, idTag) }
  const former = await found.db.get('content', await blindName(found.keys, loginName))
  if (!former) await Promise.all([found.db.clear('content'), found.db.clear('outbox')])
  await withKeys(since, (table) => table.put('keys', found.keys, 'present'))
  await prune(found, maxBytes)
  return found
}

/** A database that is opened after everything was removed would be made anew. */
function throwIfWiped(since: number): void {
  if (since !== wipeAge()) throw new Error('the session has ended')
}

async function openTables(since: number): Promise<IDBPDatabase<KeptTables>> {
  const { openDB } = await import('idb')
  throwIfWiped(since)
  return await openDB<KeptTables>('kith-kept', 1, {
    upgrade(db) {
      db.createObjectStore('content', { keyPath: 'id' }).createIndex('savedAt', 'savedAt')
      db.createObjectStore('outbox', { keyPath: 'id' })
    },
    // Another tab removes it, maybe before it is held.
    blocking(_from, _to, { target }) {
      letGo()
      ;(target as IDBDatabase).close()
    },
    terminated: letGo,
  })
}

/** The key is in a database of its own: copies of the other one alone are worth nothing. */
async function withKeys<Result>(
  since: number,
  use: (db: IDBPDatabase<KeyTables>) => Promise<Result>,
): Promise<Result> {
  const { openDB } = await import('idb')
  throwIfWiped(since)
  const db = await openDB<KeyTables>('kith-key', 1, {
    upgrade: (created) => void created.createObjectStore('keys'),
    blocking: () => db.close(),
  })
  try {
    return await use(db)
  } finally {
    db.close()
  }
}

function letGo(): void {
  held?.db.close()
  held = undefined
  keeping.set('not-yet')
}

beforeWipe(letGo)

export interface KeptValue {
  readonly name: string
  readonly value: unknown
  /** When it was known, in Unix milliseconds. */
  readonly savedAt: number
}

async function rowOf({ keys }: Held, { name, value, savedAt }: KeptValue): Promise<Row> {
  const [id, sealed] = await Promise.all([blindName(keys, name), sealValue(keys, name, value)])
  return { id, savedAt, ...sealed }
}

/** Keeps values by their names, as well as the device can. */
export async function writeKept(values: readonly KeptValue[]): Promise<void> {
  const at = held
  if (!at || keeping.get() !== 'on') return
  const rows = await Promise.all(values.map((value) => rowOf(at, value)))
  if (held !== at) return
  try {
    await put(rows.filter(({ bytes }) => bytes.byteLength <= maxRowBytes))
  } catch (error) {
    if (isFull(error)) keeping.set('full')
    else if (held === at) letGo()
  }
}

async function put(rows: readonly Row[]): Promise<void> {
  const at = held
  if (!at) return
  const write = async () => {
    const tx = at.db.transaction('content', 'readwrite')
    // Of a transaction that fails, its end tells why.
    for (const row of rows) tx.store.put(row).catch(() => undefined)
    await tx.done
  }
  await write().catch(async (error) => {
    if (!isFull(error)) throw error
    await prune(at, maxBytes / 4)
    await write()
  })
  writtenRows += rows.length
  if (writtenRows < pruneEach) return
  writtenRows = 0
  await prune(at, maxBytes)
}

/** What was kept by this name, and when; undefined where there is nothing that can be read. */
export async function readKept(name: string): Promise<Pick<KeptValue, 'value' | 'savedAt'> | undefined> {
  if (!held) return undefined
  const { db, keys } = held
  try {
    const row = await db.get('content', await blindName(keys, name))
    if (!row || Date.now() - row.savedAt > maxAgeMs) return undefined
    return { value: await openValue(keys, name, row), savedAt: row.savedAt }
  } catch {
    return undefined
  }
}

/** Removes what is oldest until the rest is within the bounds; never who uses the device. */
async function prune({ db, keys }: Held, bytesAtMost: number): Promise<void> {
  const login = await blindName(keys, loginName)
  const tx = db.transaction('content', 'readwrite')
  let [rows, bytes] = [0, 0]
  for await (const cursor of tx.store.index('savedAt').iterate(null, 'prev')) {
    rows += 1
    bytes += cursor.value.bytes.byteLength
    if (cursor.value.id === login) continue
    if (rows > maxRows || bytes > bytesAtMost || Date.now() - cursor.value.savedAt > maxAgeMs) cursor.delete()
  }
  await tx.done
}

/** What waits to be sent, by its keys. */
export async function listWaiting(): Promise<unknown[]> {
  if (!held) return []
  const { db, keys } = held
  const rows = await db.getAll('outbox')
  const opened = rows.map((row) => openValue(keys, row.id, row).catch(() => undefined))
  return (await Promise.all(opened)).filter((value) => value !== undefined)
}

/** Keeps what waits to be sent; false where it lasts no longer than the page. */
export async function putWaiting(key: string, value: unknown): Promise<boolean> {
  const at = held
  if (!at) return false
  try {
    const id = await blindName(at.keys, key)
    await at.db.put('outbox', { id, savedAt: Date.now(), ...(await sealValue(at.keys, id, value)) })
    return true
  } catch {
    return false
  }
}

export async function dropWaiting(key: string): Promise<void> {
  if (held) await held.db.delete('outbox', await blindName(held.keys, key)).catch(() => undefined)
}

function isFull(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'QuotaExceededError'
}
