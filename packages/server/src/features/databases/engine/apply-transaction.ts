import { type FileId, parseIdTag, rtdbLimits } from '@kith/protocol'
import type { StorageLimits } from '#features/files/index.ts'
import type { Database, TenantId, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { appendChanges, findAnswer, forgetChanges, putAnswer, sumChanges } from './change-log-store.ts'
import type { Applied, DatabaseKey, TransactionInput } from './database.ts'
import { type DatabaseState, lockDatabase, updateDatabase } from './database-store.ts'
import { assertDatabaseFits, DocumentWriter } from './document-writer.ts'
import { listIndexes } from './index-store.ts'
import { type PreparedOperation, prepareOperations } from './prepare-operations.ts'
import { RtdbFailure } from './rtdb-failure.ts'

export interface EngineDeps {
  readonly db: Database
  readonly clock: Clock
  readonly limitsOf: (tenantId: TenantId) => Promise<StorageLimits>
  /** Adds to the size of a file and to what its tenant uses; throws `E-QUOTA`. */
  readonly countContent: (
    tx: Writer,
    counted: { readonly fileId: FileId; readonly bytes: number; readonly limits: StorageLimits },
  ) => Promise<void>
}

/** The quota is updated in steps of this size, not with every transaction. */
const countEveryBytes = 64 * 1024
/** Of the log of one database; a larger one is cut to half of it. */
const mostLogBytes = 32 * 1024 ** 2
const forgottenAtOnce = 1000
const hourSecs = 3600
// Of those that wrote since the last snapshot.
const maxWriters = 100

// NOTE: the row of the database is locked first, so that transactions of one database come one after the other, whatever
// process they run in; what each sees is committed.
const oneByOne = { isolation: 'read-committed' } as const

/** Does all operations or none, in their order, and answers when that is durable. */
export async function applyTransaction(
  deps: EngineDeps,
  key: DatabaseKey,
  input: TransactionInput,
): Promise<Applied> {
  assertTxId(input.txId)
  const operations = await prepareOperations(input.operations)
  const limits = await deps.limitsOf(key.tenantId)
  return withQuota(() =>
    deps.db.transact(
      key.tenantId,
      (tx) => applyOperations({ ...deps, tx, fileId: key.fileId, limits }, input, operations),
      oneByOne,
    ),
  )
}

function assertTxId(txId: string | undefined): void {
  if (txId === undefined) return
  const isText = typeof txId === 'string' && txId.isWellFormed() && !txId.includes('\0')
  if (!isText || txId === '' || [...txId].length > rtdbLimits.txIdCharacters)
    throw new RtdbFailure(400, `txId has 1 to ${rtdbLimits.txIdCharacters} characters`)
}

/** What one transaction works with. */
export interface TransactionScope extends Pick<EngineDeps, 'clock' | 'countContent'> {
  readonly tx: Writer
  readonly fileId: FileId
  readonly limits: StorageLimits
}

async function applyOperations(
  scope: TransactionScope,
  input: TransactionInput,
  operations: readonly PreparedOperation[],
): Promise<Applied> {
  const { tx, fileId, clock } = scope
  const { account, txId } = input
  const state = await lockDatabase(tx, fileId)
  const at = nowSecs(clock)
  if (txId !== undefined) {
    const since = at - rtdbLimits.txIdSecs
    const results = await findAnswer(tx, { fileId, account, txId, since })
    if (results) return { seq: state.lastSeq, results, changes: [], isRepeated: true }
  }
  await input.assertUnlocked?.(
    tx,
    operations.map(({ path }) => path.text),
  )
  const indexes = await listIndexes(tx, fileId)
  const writer = new DocumentWriter(tx, { fileId, now: at, indexes })
  const results = []
  for (const operation of operations) results.push(await writer.apply(operation))
  if (txId !== undefined) await putAnswer(tx, { fileId, account, txId, at, results })
  const seq = await commitChanges(scope, state, { writer, account })
  return { seq, results, changes: writer.changes, isRepeated: false }
}

/** Writes the changes to the log, and counts their bytes. Answers the number of the new state. */
export async function commitChanges(
  scope: TransactionScope,
  state: DatabaseState,
  { writer, account }: { readonly writer: DocumentWriter; readonly account: string | undefined },
): Promise<number> {
  if (writer.changes.length === 0) return state.lastSeq
  const { tx, fileId, clock } = scope
  const at = nowSecs(clock)
  const seq = state.lastSeq + 1
  const bytes = state.bytes + writer.bytes
  if (writer.bytes > 0) assertDatabaseFits(bytes)
  const logged = await appendChanges(tx, fileId, { seq, text: writer.logText, at })
  const logBytes = await shortenLog(tx, fileId, state.logBytes + logged)
  await updateDatabase(tx, fileId, {
    lastSeq: seq,
    bytes,
    countedBytes: await countBytes(scope, bytes, state.countedBytes),
    logBytes,
    writers: withWriter(state.writers, account),
    snapshotDueAt: state.snapshotDueAt ?? endOfHour(at),
  })
  return seq
}

/** Updates the quota when enough bytes have come together. Answers the bytes that it counts then. */
export async function countBytes(
  { tx, fileId, limits, countContent }: TransactionScope,
  bytes: number,
  counted: number,
): Promise<number> {
  if (Math.abs(bytes - counted) < countEveryBytes) return counted
  await countContent(tx, { fileId, bytes: bytes - counted, limits })
  return bytes
}

async function shortenLog(tx: Writer, fileId: FileId, logBytes: number): Promise<number> {
  if (logBytes <= mostLogBytes) return logBytes
  // The sweep of old changes does not subtract theirs from this number.
  const kept = await sumChanges(tx, fileId)
  if (kept <= mostLogBytes) return kept
  const excess = kept - mostLogBytes / 2
  return kept - (await forgetChanges(tx, fileId, { excess, limit: forgottenAtOnce }))
}

function withWriter(writers: readonly string[], account: string | undefined): readonly string[] {
  const idTag = account === undefined ? undefined : parseIdTag(account)
  if (idTag === undefined || writers.includes(idTag) || writers.length >= maxWriters) return writers
  return [...writers, idTag]
}

/** When the state of an hour is kept. */
export function endOfHour(at: number): number {
  return (Math.floor(at / hourSecs) + 1) * hourSecs
}

/** Turns `E-QUOTA` into the 413 of this protocol. */
export async function withQuota<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-QUOTA') throw new RtdbFailure(413, error.message)
    throw error
  }
}

/** Turns failures of this protocol into those of HTTP. */
export async function withFailures<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RtdbFailure && error.code === 413)
      throw new Failure('E-QUOTA', { message: error.message })
    throw error
  }
}
