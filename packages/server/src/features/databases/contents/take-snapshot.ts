import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { Database, Reader, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { endOfHour } from '../engine/apply-transaction.ts'
import type { DatabaseKey } from '../engine/database.ts'
import { findState, lockDatabase, updateDatabase } from '../engine/database-store.ts'
import { documentLines } from './document-lines.ts'
import { finishSnapshot, insertPart, insertSnapshot, listStoredSnapshots } from './snapshot-store.ts'

export interface SnapshotDeps {
  readonly db: Database
  readonly clock: Clock
}

const compress = promisify(deflate)
const inBackground = { isolation: 'read-committed', isBackground: true } as const

/** Keeps the state that a database has now, unless that is kept already. Answers its number; undefined while another
 * process keeps the same state. It is read at one moment and written in portions. */
export function takeSnapshot(deps: SnapshotDeps, key: DatabaseKey): Promise<number | undefined> {
  return deps.db.snapshot((readerOf) => writeSnapshot(deps, key, readerOf(key.tenantId)))
}

async function writeSnapshot(
  { db, clock }: SnapshotDeps,
  { tenantId, fileId }: DatabaseKey,
  reader: Reader,
): Promise<number | undefined> {
  const { lastSeq: seq, writers } = await findState(reader, fileId)
  const createdAt = nowSecs(clock)
  const isNew = await db.transact(
    tenantId,
    (tx) => insertSnapshot(tx, fileId, { seq, createdAt, writers }),
    inBackground,
  )
  if (!isNew) {
    const known = await listStoredSnapshots(db.reader(tenantId), fileId)
    const isWhole = known.some((snapshot) => snapshot.seq === seq && snapshot.storedBytes !== null)
    if (isWhole) await endTurn({ db, clock }, { tenantId, fileId }, seq)
    return isWhole ? seq : undefined
  }
  let [size, storedBytes, part] = [0, 0, 0]
  for await (const lines of documentLines(reader, fileId)) {
    const data = await compress(lines)
    size += Buffer.byteLength(lines)
    storedBytes += data.length
    await db.transact(tenantId, (tx) => insertPart(tx, fileId, { seq, part, data }), inBackground)
    part += 1
  }
  await db.transact(tenantId, (tx) => finishSnapshot(tx, fileId, { seq, size, storedBytes }), inBackground)
  await endTurn({ db, clock }, { tenantId, fileId }, seq)
  return seq
}

/** Later changes belong to the snapshot of the next hour. */
function endTurn({ db, clock }: SnapshotDeps, { tenantId, fileId }: DatabaseKey, seq: number): Promise<void> {
  const work = async (tx: Writer) => {
    const state = await lockDatabase(tx, fileId)
    const since =
      state.lastSeq === seq
        ? { writers: [], snapshotDueAt: null }
        : { snapshotDueAt: endOfHour(nowSecs(clock)) }
    await updateDatabase(tx, fileId, { ...state, ...since })
  }
  return db.transact(tenantId, work, inBackground)
}
