import type { FileId } from '@kith/protocol'
import type { Database, TenantId } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { partsOf } from '../documents-tables.ts'
import { findDocument, insertDocument, updateDocument } from '../log/document-log-store.ts'
import { insertSnapshotParts, insertSnapshotRow } from './snapshot-store.ts'

interface StateCopy {
  readonly tenantId: TenantId
  readonly from: FileId
  readonly to: FileId
  /** Of `from` at one moment. */
  readonly state: Uint8Array
}

const inBackground = { isolation: 'read-committed', isBackground: true } as const
// Of 128 KiB: other writers wait for each transaction.
const partsAtOnce = 32
const firstSeq = 1

/** Makes a document of a state, in portions: it has no history, and nothing of who wrote it. Answers its bytes. */
export async function copyState(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  { tenantId, from, to, state }: StateCopy,
): Promise<number> {
  const openMs = (await findDocument(db.reader(tenantId), from))?.openMs ?? 0
  const snapshot = { seq: firstSeq, createdAt: nowSecs(clock), size: state.length, writers: [] }
  await db.transact(
    tenantId,
    async (tx) => {
      await insertDocument(tx, to)
      await insertSnapshotRow(tx, to, snapshot)
      await updateDocument(tx, to, { lastSeq: firstSeq, stateBytes: state.length, openMs })
    },
    inBackground,
  )
  const parts = partsOf(state)
  for (let first = 0; first < parts.length; first += partsAtOnce) {
    const some = parts.slice(first, first + partsAtOnce)
    const put = { seq: firstSeq, first, parts: some }
    await db.transact(tenantId, (tx) => insertSnapshotParts(tx, to, put), inBackground)
  }
  return state.length
}
