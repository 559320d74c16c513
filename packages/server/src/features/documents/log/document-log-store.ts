import type { FileId, IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import { forUpdate, type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import { type DocumentTables, partsOf } from '../documents-tables.ts'

/** The row of a document. */
export interface StoredDocument {
  readonly lastSeq: number
  /** Of the newest snapshot. */
  readonly stateBytes: number
  /** Of the updates after it. */
  readonly logBytes: number
  readonly uncountedBytes: number
  /** What opening the newest snapshot took, in milliseconds of a processor. */
  readonly openMs: number
}

/** Some updates that were committed together, as one. */
export interface LoggedUpdate {
  readonly seq: number
  readonly bytes: Uint8Array
  /** How many were merged. */
  readonly updates: number
  readonly isQuarantined: boolean
}

export interface NewUpdate {
  readonly bytes: Uint8Array
  readonly updates: number
  readonly writers: readonly IdTag[]
}

interface OfFile {
  readonly tenantId: TenantId
  readonly fileId: FileId
}

const documentColumns = ['last_seq', 'state_bytes', 'log_bytes', 'uncounted_bytes', 'open_ms'] as const
type DocumentRow = Record<(typeof documentColumns)[number], number>

export async function findDocument(reader: Reader, fileId: FileId): Promise<StoredDocument | undefined> {
  const row = await selectDocument(reader, fileId).executeTakeFirst()
  return row && documentOf(row)
}

/** The same, and no other process changes the document until the end of the transaction. */
export async function lockDocument(tx: Writer, fileId: FileId): Promise<StoredDocument | undefined> {
  const row = await forUpdate(tx.dialect, selectDocument(tx, fileId)).executeTakeFirst()
  return row && documentOf(row)
}

function selectDocument(reader: Reader, fileId: FileId) {
  return reader
    .tables<DocumentTables>()
    .selectFrom('crdt_documents')
    .select(documentColumns)
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', '=', fileId)
}

function documentOf(row: DocumentRow): StoredDocument {
  return {
    lastSeq: row.last_seq,
    stateBytes: row.state_bytes,
    logBytes: row.log_bytes,
    uncountedBytes: row.uncounted_bytes,
    openMs: row.open_ms,
  }
}

/** A document without any content; false when there is one already. */
export async function insertDocument(tx: Writer, fileId: FileId): Promise<boolean> {
  const inserted = await tx
    .tables<DocumentTables>()
    .insertInto('crdt_documents')
    .values({
      tenant_id: tx.tenantId,
      file_id: fileId,
      last_seq: 0,
      state_bytes: 0,
      log_bytes: 0,
      uncounted_bytes: 0,
      open_ms: 0,
      thin_at: null,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'file_id']).doNothing())
    .executeTakeFirst()
  return Number(inserted.numInsertedOrUpdatedRows) > 0
}

const takeSeq = statement<DocumentTables, OfFile & { size: number }, DocumentRow>((tables, value) =>
  tables
    .updateTable('crdt_documents')
    .set({
      last_seq: sql<number>`last_seq + 1`,
      log_bytes: sql<number>`log_bytes + ${value('size')}`,
      uncounted_bytes: sql<number>`uncounted_bytes + ${value('size')}`,
    })
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .returning(documentColumns),
)

const insertPart = statement<
  DocumentTables,
  OfFile & { seq: number; part: number; bytes: Uint8Array; writers: string | null; updates: number },
  unknown
>((tables, value) =>
  tables.insertInto('crdt_updates').values({
    tenant_id: value('tenantId'),
    file_id: value('fileId'),
    seq: value('seq'),
    part: value('part'),
    bytes: value('bytes'),
    writers: value('writers'),
    updates: value('updates'),
    quarantined_at: null,
  }),
)

/** Appends to the log. It must come first in its transaction: a process waits for another that appends already.
 * Undefined when there is no such document any more. */
export async function appendUpdate(
  tx: Writer,
  fileId: FileId,
  { bytes, updates, writers }: NewUpdate,
): Promise<StoredDocument | undefined> {
  const { tenantId } = tx
  const row = await tx.first(takeSeq, { tenantId, fileId, size: bytes.length })
  if (!row) return undefined
  const seq = row.last_seq
  for (const [part, piece] of partsOf(bytes).entries()) {
    const about = part === 0 ? { writers: JSON.stringify(writers), updates } : { writers: null, updates: 0 }
    await tx.change(insertPart, { tenantId, fileId, seq, part, bytes: piece, ...about })
  }
  return documentOf(row)
}

const selectUpdates = statement<
  DocumentTables,
  OfFile & { after: number },
  { seq: number; part: number; bytes: Uint8Array; updates: number; quarantined_at: number | null }
>((tables, value) =>
  tables
    .selectFrom('crdt_updates')
    .select(['seq', 'part', 'bytes', 'updates', 'quarantined_at'])
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('seq', '>', value('after'))
    .orderBy('seq')
    .orderBy('part'),
)

/** What was appended after a number, in order. Bound: what is left by a compaction. */
export async function listUpdates(reader: Reader, fileId: FileId, after: number): Promise<LoggedUpdate[]> {
  const rows = await reader.run(selectUpdates, { tenantId: reader.tenantId, fileId, after })
  const bySeq = Map.groupBy(rows, ({ seq }) => seq)
  return [...bySeq].map(([seq, parts]) => ({
    seq,
    bytes: joined(parts.map(({ bytes }) => bytes)),
    updates: parts[0]?.updates ?? 0,
    isQuarantined: parts[0]?.quarantined_at !== null,
  }))
}

/** One piece as it is, several as one. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  return only && parts.length === 1 ? only : Buffer.concat(parts)
}

/** Who wrote up to a number. */
export async function listLogWriters(reader: Reader, fileId: FileId, upTo: number): Promise<IdTag[]> {
  const rows = await reader
    .tables<DocumentTables>()
    .selectFrom('crdt_updates')
    .select('writers')
    .distinct()
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', '=', fileId)
    .where('seq', '<=', upTo)
    .where('writers', 'is not', null)
    .execute()
  return [...new Set(rows.flatMap(({ writers }) => JSON.parse(writers ?? '[]') as IdTag[]))]
}

/** Forgets updates up to a number, but none that could not be read. */
export async function deleteUpdates(tx: Writer, fileId: FileId, upTo: number): Promise<void> {
  await tx
    .tables<DocumentTables>()
    .deleteFrom('crdt_updates')
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .where('seq', '<=', upTo)
    .where('quarantined_at', 'is', null)
    .execute()
}

/** The bytes of the updates after a number. */
export async function sumUpdates(reader: Reader, fileId: FileId, after: number): Promise<number> {
  const row = await reader
    .tables<DocumentTables>()
    .selectFrom('crdt_updates')
    .select(sql<number>`coalesce(sum(length(bytes)), 0)`.as('bytes'))
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', '=', fileId)
    .where('seq', '>', after)
    .where('quarantined_at', 'is', null)
    .executeTakeFirst()
  return Number(row?.bytes ?? 0)
}

export async function updateDocument(
  tx: Writer,
  fileId: FileId,
  {
    lastSeq,
    stateBytes,
    logBytes,
    uncountedBytes,
    openMs,
    thinAt,
  }: Partial<StoredDocument> & { readonly thinAt?: number | null },
): Promise<void> {
  await tx
    .tables<DocumentTables>()
    .updateTable('crdt_documents')
    .set({
      ...(lastSeq === undefined ? {} : { last_seq: lastSeq }),
      ...(stateBytes === undefined ? {} : { state_bytes: stateBytes }),
      ...(logBytes === undefined ? {} : { log_bytes: logBytes }),
      ...(uncountedBytes === undefined ? {} : { uncounted_bytes: uncountedBytes }),
      ...(openMs === undefined ? {} : { open_ms: Math.round(openMs) }),
      ...(thinAt === undefined ? {} : { thin_at: thinAt }),
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .execute()
}

/** Keeps updates that cannot be read away from the others. */
export async function quarantineUpdates(
  tx: Writer,
  fileId: FileId,
  which: ({ readonly seqs: readonly number[] } | { readonly after: number }) & { readonly now: number },
): Promise<void> {
  const updates = tx
    .tables<DocumentTables>()
    .updateTable('crdt_updates')
    .set({ quarantined_at: which.now })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
  await ('seqs' in which
    ? updates.where('seq', 'in', which.seqs)
    : updates.where('seq', '>', which.after)
  ).execute()
}

/** NOTE: over all tenants: the last numbers of these documents, in one query. */
export async function listLastSeqs(
  reader: Reader,
  documents: readonly OfFile[],
): Promise<{ readonly tenantId: TenantId; readonly fileId: FileId; readonly lastSeq: number }[]> {
  const tenantIds = [...new Set(documents.map(({ tenantId }) => tenantId))]
  const fileIds = documents.map(({ fileId }) => fileId)
  const rows = await reader
    .tables<DocumentTables>()
    .selectFrom('crdt_documents')
    .select(['tenant_id', 'file_id', 'last_seq'])
    // Both: the key leads to the rows.
    .where('tenant_id', 'in', tenantIds)
    .where('file_id', 'in', fileIds)
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id, fileId: row.file_id, lastSeq: row.last_seq }))
}
