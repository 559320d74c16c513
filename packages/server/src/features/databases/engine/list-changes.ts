import type { Reader } from '#infra/db/index.ts'
import { EventLoopTurns } from '#lib/event-loop-turns.ts'
import type { EngineDeps } from './apply-transaction.ts'
import { listLogged } from './change-log-store.ts'
import type { DatabaseKey, LoggedChanges } from './database.ts'
import { findState } from './database-store.ts'

/** What was done after a number. Incomplete: some of it is kept no longer, and nothing is told. */
export type ChangeList =
  | { readonly isComplete: true; readonly changes: readonly LoggedChanges[] }
  | { readonly isComplete: false; readonly changes: readonly [] }

// A row may be large: more are read at once when those before were not.
const [fewestRows, mostRows] = [8, 512]
const incomplete: ChangeList = { isComplete: false, changes: [] }

/** The changes after `afterSeq`, in their order, up to the newest that is committed. */
export function listChanges(
  { db }: Pick<EngineDeps, 'db'>,
  { tenantId, fileId }: DatabaseKey,
  afterSeq: number,
): Promise<ChangeList> {
  return readChanges(db.reader(tenantId), fileId, afterSeq)
}

export async function readChanges(
  reader: Reader,
  fileId: DatabaseKey['fileId'],
  afterSeq: number,
): Promise<ChangeList> {
  const { lastSeq } = await findState(reader, fileId)
  const changes: LoggedChanges[] = []
  const turns = new EventLoopTurns()
  let after = afterSeq
  let limit = fewestRows
  while (after < lastSeq) {
    const rows = await listLogged(reader, fileId, { after, limit })
    if (rows.length === 0) return incomplete
    for (const row of rows) {
      if (row.seq !== after + 1) return incomplete
      changes.push(row)
      after = row.seq
    }
    limit = (await turns.giveWay()) ? fewestRows : Math.min(2 * limit, mostRows)
  }
  return { isComplete: true, changes }
}
