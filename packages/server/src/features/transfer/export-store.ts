import type { Reader, Writer } from '#infra/db/index.ts'
import type { AccountExport, ExportOutcome } from './account-export.ts'

interface ExportTables {
  exports: {
    tenant_id: number
    ticket_hash: string | null
    ticket_sid: string | null
    ticket_until: number | null
    run_id: string | null
    started_at: number | null
    alive_until: number | null
    ended_at: number | null
    outcome: string | null
    sent_bytes: number
    counted_from: number
    counted: number
  }
}

export interface Ticket {
  readonly hash: string
  readonly sessionId: string
  readonly until: number
}

type Stored = AccountExport & { readonly ticket: Ticket | undefined }

export async function findExport(reader: Reader): Promise<Stored | undefined> {
  const row = await reader
    .tables<ExportTables>()
    .selectFrom('exports')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirst()
  return row && storedOf(row)
}

function storedOf(row: ExportTables['exports']): Stored {
  const { ticket_hash: hash, ticket_sid: sessionId, ticket_until: until } = row
  const isOpen = hash !== null && sessionId !== null && until !== null
  return {
    ticket: isOpen ? { hash, sessionId, until } : undefined,
    ticketUntil: until ?? undefined,
    run:
      row.run_id === null
        ? undefined
        : {
            runId: row.run_id,
            startedAt: row.started_at ?? 0,
            aliveUntil: row.alive_until ?? 0,
            endedAt: row.ended_at ?? undefined,
            outcome: (row.outcome ?? undefined) as ExportOutcome | undefined,
            sentBytes: row.sent_bytes,
          },
    countedFrom: row.counted_from,
    counted: row.counted,
  }
}

/** Puts a ticket in the place of the one before it. */
export async function putTicket(tx: Writer, { hash, sessionId, until }: Ticket): Promise<void> {
  const ticket = { ticket_hash: hash, ticket_sid: sessionId, ticket_until: until }
  await tx
    .tables<ExportTables>()
    .insertInto('exports')
    .values({ tenant_id: tx.tenantId, ...ticket, sent_bytes: 0, counted_from: 0, counted: 0 })
    .onConflict((conflict) => conflict.columns(['tenant_id']).doUpdateSet(ticket))
    .execute()
}

interface BegunRun extends Pick<AccountExport, 'countedFrom' | 'counted'> {
  readonly runId: string
  readonly startedAt: number
  readonly aliveUntil: number
}

/** Spends the ticket on a run. */
export async function putRun(tx: Writer, run: BegunRun): Promise<void> {
  await tx
    .tables<ExportTables>()
    .updateTable('exports')
    .set({
      ticket_hash: null,
      ticket_sid: null,
      ticket_until: null,
      run_id: run.runId,
      started_at: run.startedAt,
      alive_until: run.aliveUntil,
      ended_at: null,
      outcome: null,
      sent_bytes: 0,
      counted_from: run.countedFrom,
      counted: run.counted,
    })
    .where('tenant_id', '=', tx.tenantId)
    .execute()
}

interface RunNews {
  readonly sentBytes: number
  readonly aliveUntil?: number
  readonly ended?: { readonly at: number; readonly outcome: ExportOutcome }
}

/** Notes how far a run is; answers whether it is still the one of the account. */
export async function noteRun(tx: Writer, runId: string, news: RunNews): Promise<boolean> {
  const { sentBytes, aliveUntil, ended } = news
  const { numUpdatedRows } = await tx
    .tables<ExportTables>()
    .updateTable('exports')
    .set({
      sent_bytes: sentBytes,
      ...(aliveUntil === undefined ? {} : { alive_until: aliveUntil }),
      ...(ended ? { ended_at: ended.at, outcome: ended.outcome } : {}),
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('run_id', '=', runId)
    .where('outcome', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
