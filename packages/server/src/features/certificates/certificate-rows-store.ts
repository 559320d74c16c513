import type { Selectable } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { CertificateState } from './certificate.ts'

interface CertificateTable {
  name: string
  tenant_id: number
  zone: string
  chain: string | null
  sealed_key: Uint8Array | null
  version: number
  not_before: number | null
  not_after: number | null
  renew_at: number
  ask_at: number | null
  order_url: string | null
  sealed_order_key: Uint8Array | null
  order_started_at: number | null
  last_ordered_at: number | null
  next_attempt_at: number
  failures: number
  failing_since: number | null
  error_kind: string | null
  error_detail: string | null
  warned_stage: number
  unwanted_since: number | null
  created_at: number
  /** Of the authority that it is, or is to be, from; null until the first sweep. */
  directory: string | null
}
export interface CertificateTables {
  certificates: CertificateTable
}

export const stateColumns = [
  'name',
  'zone',
  'not_before',
  'not_after',
  'renew_at',
  'ask_at',
  'order_url',
  'order_started_at',
  'next_attempt_at',
  'failures',
  'failing_since',
  'error_kind',
  'error_detail',
  'warned_stage',
  'unwanted_since',
] as const

// All of these take a handle of the server's own tenant: names are the server's.

export function rows(reader: Reader) {
  return reader
    .tables<CertificateTables>()
    .selectFrom('certificates')
    .where('tenant_id', '=', reader.tenantId)
}

/** Names whose certificate is to be ordered now. */
export function dueRows(reader: Reader, now: number) {
  return rows(reader)
    .where('unwanted_since', 'is', null)
    .where('renew_at', '<=', now)
    .where('next_attempt_at', '<=', now)
}

export function update(tx: Writer, change: Partial<Omit<CertificateTable, 'name' | 'tenant_id'>>) {
  return tx
    .tables<CertificateTables>()
    .updateTable('certificates')
    .set(change)
    .where('tenant_id', '=', tx.tenantId)
}

export function fromRow(
  row: Pick<Selectable<CertificateTable>, (typeof stateColumns)[number]>,
): CertificateState {
  const { error_kind: kind, error_detail: detail } = row
  return {
    name: row.name,
    zone: row.zone,
    notBefore: row.not_before ?? undefined,
    notAfter: row.not_after ?? undefined,
    renewAt: row.renew_at,
    askAt: row.ask_at ?? undefined,
    orderUrl: row.order_url ?? undefined,
    orderStartedAt: row.order_started_at ?? undefined,
    nextAttemptAt: row.next_attempt_at,
    failures: row.failures,
    failingSince: row.failing_since ?? undefined,
    fault: kind === null ? undefined : { kind, detail: detail ?? '' },
    warnedStage: row.warned_stage,
    unwantedSince: row.unwanted_since ?? undefined,
  }
}
