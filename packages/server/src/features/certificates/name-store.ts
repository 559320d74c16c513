import type { Writer } from '#infra/db/index.ts'
import { type CertificateTables, update } from './certificate-rows-store.ts'

// All of these take a handle of the server's own tenant: names are the server's.

interface NewName {
  readonly name: string
  readonly zone: string
  /** Since when it waits for its turn. */
  readonly dueAt: number
}

/** Adds names that are new. */
export async function insertNames(tx: Writer, names: readonly NewName[], now: number): Promise<void> {
  if (names.length === 0) return
  const fresh = {
    tenant_id: tx.tenantId,
    version: 0,
    next_attempt_at: 0,
    failures: 0,
    warned_stage: 0,
    created_at: now,
  }
  await tx
    .tables<CertificateTables>()
    .insertInto('certificates')
    .values(names.map(({ name, zone, dueAt }) => ({ ...fresh, name, zone, renew_at: dueAt })))
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
}

/** Has everything begin anew at another authority: certificates of the former one are served until there are new ones. */
export async function moveToAuthority(tx: Writer, directory: string, now: number): Promise<void> {
  const move = (change: Parameters<typeof update>[1]) => update(tx, { ...change, directory })
  await move({
    next_attempt_at: 0,
    failures: 0,
    failing_since: null,
    error_kind: null,
    error_detail: null,
    order_url: null,
    sealed_order_key: null,
    order_started_at: null,
  })
    .set((row) => ({
      renew_at: row.case().when('renew_at', '>', now).then(now).else(row.ref('renew_at')).end(),
    }))
    .where('directory', '!=', directory)
    .execute()
  await move({}).where('directory', 'is', null).execute()
}

/** Writes since when the names are not answered for; undefined where they are again. */
export async function setUnwanted(
  tx: Writer,
  names: readonly string[],
  since: number | undefined,
): Promise<void> {
  if (names.length > 0)
    await update(tx, { unwanted_since: since ?? null })
      .where('name', 'in', names)
      .execute()
}

/** Removes names that were not answered for at that time and before; those without a certificate whenever that was. */
export async function deleteUnwanted(tx: Writer, before: number): Promise<void> {
  await tx
    .tables<CertificateTables>()
    .deleteFrom('certificates')
    .where('tenant_id', '=', tx.tenantId)
    .where('unwanted_since', 'is not', null)
    .where((either) => either.or([either('unwanted_since', '<=', before), either('chain', 'is', null)]))
    .execute()
}

/** Removes a name with its certificate and its order under way. */
export async function deleteName(tx: Writer, name: string): Promise<void> {
  await tx
    .tables<CertificateTables>()
    .deleteFrom('certificates')
    .where('tenant_id', '=', tx.tenantId)
    .where('name', '=', name)
    .execute()
}
