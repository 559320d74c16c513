import type { Reader, Writer } from '#infra/db/index.ts'
import type { CertificateFault, CertificateState } from './certificate.ts'
import { type CertificateTables, rows, update } from './certificate-rows-store.ts'

// All of these take a handle of the server's own tenant: names are the server's.

/** The sealed key of the order under way. */
export async function findOrderKey(reader: Reader, name: string): Promise<Uint8Array | undefined> {
  const row = await rows(reader).select('sealed_order_key').where('name', '=', name).executeTakeFirst()
  return row?.sealed_order_key ?? undefined
}

/** How many orders were begun since then. */
export async function countOrdersSince(reader: Reader, since: number): Promise<number> {
  const { total } = await rows(reader)
    .select((row) => row.fn.countAll<number>().as('total'))
    .where('last_ordered_at', '>', since)
    .executeTakeFirstOrThrow()
  return Number(total)
}

/** An order is about to be placed. */
export async function noteOrdering(tx: Writer, name: string, now: number): Promise<void> {
  await update(tx, { last_ordered_at: now }).where('name', '=', name).execute()
}

export async function setOrder(
  tx: Writer,
  name: string,
  order: { readonly url: string; readonly sealedKey: Uint8Array; readonly now: number } | undefined,
): Promise<void> {
  const change = {
    order_url: order?.url ?? null,
    sealed_order_key: order?.sealedKey ?? null,
    order_started_at: order?.now ?? null,
  }
  await update(tx, change).where('name', '=', name).execute()
}

/** Puts the certificate of the order under way in the place of the former one. */
export async function setIssued(
  tx: Writer,
  name: string,
  issued: {
    readonly chain: string
    readonly sealedKey: Uint8Array
    readonly notBefore: number
    readonly notAfter: number
    readonly renewAt: number
    readonly askAt: number
  },
): Promise<void> {
  await tx
    .tables<CertificateTables>()
    .updateTable('certificates')
    .set((row) => ({
      chain: issued.chain,
      sealed_key: issued.sealedKey,
      version: row('version', '+', 1),
      not_before: issued.notBefore,
      not_after: issued.notAfter,
      renew_at: issued.renewAt,
      ask_at: issued.askAt,
      next_attempt_at: 0,
      failures: 0,
      failing_since: null,
      error_kind: null,
      error_detail: null,
      warned_stage: 0,
    }))
    .where('tenant_id', '=', tx.tenantId)
    .where('name', '=', name)
    .execute()
  await setOrder(tx, name, undefined)
}

/** Writes why an attempt failed, and when the next one may be. The order under way is given up. */
export async function setFailed(
  tx: Writer,
  { name, failures, failingSince }: CertificateState,
  failed: { readonly fault: CertificateFault; readonly nextAttemptAt: number; readonly now: number },
): Promise<void> {
  const { fault, nextAttemptAt, now } = failed
  const change = {
    failures: failures + 1,
    failing_since: failingSince ?? now,
    next_attempt_at: nextAttemptAt,
    error_kind: fault.kind,
    error_detail: fault.detail,
  }
  await update(tx, change).where('name', '=', name).execute()
  await setOrder(tx, name, undefined)
}

export async function setNextAttempt(tx: Writer, name: string, at: number): Promise<void> {
  await update(tx, { next_attempt_at: at }).where('name', '=', name).execute()
}
