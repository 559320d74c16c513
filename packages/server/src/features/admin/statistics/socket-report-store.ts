import type { Reader, Writer } from '#infra/db/index.ts'

interface ReportTables {
  socket_reports: { node_id: string; sockets: number; reported_at: number }
}

interface Report {
  /** The process. */
  readonly nodeId: string
  readonly sockets: number
  /** Unix seconds. */
  readonly reportedAt: number
}

// NOTE: the rows are the whole server's, and of no tenant.

export async function putReport(tx: Writer, { nodeId, sockets, reportedAt }: Report): Promise<void> {
  const changed = { sockets, reported_at: reportedAt }
  await tx
    .tables<ReportTables>()
    .insertInto('socket_reports')
    .values({ node_id: nodeId, ...changed })
    .onConflict((conflict) => conflict.column('node_id').doUpdateSet(changed))
    .execute()
}

export async function deleteReport(tx: Writer, nodeId: string): Promise<void> {
  await tx.tables<ReportTables>().deleteFrom('socket_reports').where('node_id', '=', nodeId).execute()
}

/** Those of processes that died. */
export async function deleteReportsBefore(tx: Writer, before: number): Promise<void> {
  await tx.tables<ReportTables>().deleteFrom('socket_reports').where('reported_at', '<', before).execute()
}

/** The open WebSockets of all processes that have reported since. */
export async function sumReportsSince(reader: Reader, since: number): Promise<number> {
  const { sum } = await reader
    .tables<ReportTables>()
    .selectFrom('socket_reports')
    .select((row) => row.fn.sum<number | null>('sockets').as('sum'))
    .where('reported_at', '>=', since)
    .executeTakeFirstOrThrow()
  return Number(sum ?? 0)
}
