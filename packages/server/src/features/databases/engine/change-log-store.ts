import type { FileId, RtdbOperationResult } from '@kith/protocol'
import { sql } from 'kysely'
import { deletionOf, type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import type { LoggedChanges } from './database.ts'
import { documentChange, type LoggedChange } from './logged-change.ts'

interface LogTables {
  rtdb_changes: {
    tenant_id: TenantId
    file_id: FileId
    seq: number
    at: number
    size: number
    changes: string
  }
  rtdb_transactions: {
    tenant_id: TenantId
    file_id: FileId
    account: string
    tx_id: string
    at: number
    answer: string
  }
}

type Of = { tenantId: TenantId; fileId: FileId }

const insertChanges = statement<
  LogTables,
  Of & { seq: number; at: number; size: number; changes: string },
  unknown
>((tables, value) =>
  tables.insertInto('rtdb_changes').values({
    tenant_id: value('tenantId'),
    file_id: value('fileId'),
    seq: value('seq'),
    at: value('at'),
    size: value('size'),
    changes: value('changes'),
  }),
)

/** The changes of one transaction. */
interface NewChanges {
  readonly seq: number
  /** Of a list of `LoggedChange`. */
  readonly text: string
  readonly at: number
}

// A row of this size takes some milliseconds to write. Of larger transactions other processes read the whole state again.
const mostBytesOfOne = 4 * 1024 ** 2

/** Answers the bytes that the log has grown by. */
export async function appendChanges(
  tx: Writer,
  fileId: FileId,
  { seq, text, at }: NewChanges,
): Promise<number> {
  const size = Buffer.byteLength(text)
  if (size > mostBytesOfOne) return 0
  await tx.change(insertChanges, { tenantId: tx.tenantId, fileId, seq, at, size, changes: text })
  return size
}

const selectAfter = statement<
  LogTables,
  Of & { after: number; limit: number },
  { seq: number; changes: string }
>((tables, value) =>
  tables
    .selectFrom('rtdb_changes')
    .select(['seq', 'changes'])
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('seq', '>', value('after'))
    .orderBy('seq')
    .limit(value('limit')),
)

/** What was done after a number, in its order. */
export async function listLogged(
  reader: Reader,
  fileId: FileId,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<LoggedChanges[]> {
  const rows = await reader.run(selectAfter, { tenantId: reader.tenantId, fileId, after, limit })
  return rows.map(({ seq, changes }) => ({
    seq,
    changes: (JSON.parse(changes) as LoggedChange[]).map(documentChange),
  }))
}

const selectSizes = statement<LogTables, Of & { limit: number }, { seq: number; size: number }>(
  (tables, value) =>
    tables
      .selectFrom('rtdb_changes')
      .select(['seq', 'size'])
      .where('tenant_id', '=', value('tenantId'))
      .where('file_id', '=', value('fileId'))
      .orderBy('seq')
      .limit(value('limit')),
)

const sumSizes = statement<LogTables, Of, { bytes: number }>((tables, value) =>
  tables
    .selectFrom('rtdb_changes')
    .select(sql<number>`coalesce(sum(size), 0)`.as('bytes'))
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId')),
)

/** The bytes of the whole log of a database. */
export async function sumChanges(reader: Reader, fileId: FileId): Promise<number> {
  const row = await reader.first(sumSizes, { tenantId: reader.tenantId, fileId })
  return Number(row?.bytes ?? 0)
}

const deleteUpTo = statement<LogTables, Of & { seq: number }, unknown>((tables, value) =>
  tables
    .deleteFrom('rtdb_changes')
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('seq', '<=', value('seq')),
)

/** Forgets the oldest changes of a log that is this much too large, `limit` at most. Answers their bytes. */
export async function forgetChanges(
  tx: Writer,
  fileId: FileId,
  { excess, limit }: { readonly excess: number; readonly limit: number },
): Promise<number> {
  const of = { tenantId: tx.tenantId, fileId }
  let bytes = 0
  let upTo: number | undefined
  for (const { seq, size } of await tx.run(selectSizes, { ...of, limit })) {
    if (bytes >= excess) break
    bytes += size
    upTo = seq
  }
  if (upTo !== undefined) await tx.change(deleteUpTo, { ...of, seq: upTo })
  return bytes
}

/** NOTE: over all tenants. */
export const deleteOldChanges = deletionOf({
  table: 'rtdb_changes',
  key: ['tenant_id', 'file_id', 'seq'],
  time: 'at',
})

interface TransactionName {
  readonly fileId: FileId
  readonly account: string
  readonly txId: string
}

const selectAnswer = statement<
  LogTables,
  Of & { account: string; txId: string; since: number },
  { answer: string }
>((tables, value) =>
  tables
    .selectFrom('rtdb_transactions')
    .select('answer')
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('account', '=', value('account'))
    .where('tx_id', '=', value('txId'))
    .where('at', '>', value('since')),
)

/** What a transaction was answered with that was done later than `since`. */
export async function findAnswer(
  reader: Reader,
  name: TransactionName & { readonly since: number },
): Promise<readonly RtdbOperationResult[] | undefined> {
  const row = await reader.first(selectAnswer, { tenantId: reader.tenantId, ...name })
  return row && (JSON.parse(row.answer) as RtdbOperationResult[])
}

const upsertAnswer = statement<
  LogTables,
  Of & { account: string; txId: string; at: number; answer: string },
  unknown
>((tables, value) =>
  tables
    .insertInto('rtdb_transactions')
    .values({
      tenant_id: value('tenantId'),
      file_id: value('fileId'),
      account: value('account'),
      tx_id: value('txId'),
      at: value('at'),
      answer: value('answer'),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'file_id', 'account', 'tx_id'])
        .doUpdateSet((row) => ({ at: row.ref('excluded.at'), answer: row.ref('excluded.answer') })),
    ),
)

export async function putAnswer(
  tx: Writer,
  {
    results,
    ...of
  }: TransactionName & { readonly at: number; readonly results: readonly RtdbOperationResult[] },
): Promise<void> {
  await tx.change(upsertAnswer, { tenantId: tx.tenantId, ...of, answer: JSON.stringify(results) })
}

/** NOTE: over all tenants. */
export const deleteOldAnswers = deletionOf({
  table: 'rtdb_transactions',
  key: ['tenant_id', 'file_id', 'account', 'tx_id'],
  time: 'at',
})
