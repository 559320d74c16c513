import type { Writer } from '#infra/db/index.ts'
import type { CertificateFault } from './certificate.ts'
import { dueRows, rows, update } from './certificate-rows-store.ts'

// All of these take a handle of the server's own tenant: names are the server's.

interface Hold {
  readonly fault: CertificateFault
  readonly until: number
}

/** Has all names that are due below a registered domain wait until that time, with the same error. */
export async function holdZone(
  tx: Writer,
  zone: string,
  { fault, until, now }: Hold & { readonly now: number },
): Promise<void> {
  await update(tx, { next_attempt_at: until, error_kind: fault.kind, error_detail: fault.detail })
    .where('zone', '=', zone)
    .where('renew_at', '<=', now)
    .where('next_attempt_at', '<', until)
    .execute()
}

/** Has names that came due since a rate limit was met wait with the others of their domain: each further attempt would make
 * all of them wait longer. */
export async function holdDue(tx: Writer, now: number): Promise<void> {
  const held = await rows(tx)
    .select(({ fn }) => [
      'zone',
      fn.max('next_attempt_at').as('until'),
      fn.max('error_detail').as('error_detail'),
    ])
    .where('error_kind', '=', 'rateLimited')
    .where('next_attempt_at', '>', now)
    .where('zone', 'in', dueRows(tx, now).select('zone'))
    .groupBy('zone')
    .execute()
  for (const { zone, until, error_detail } of held)
    await holdZone(tx, zone, { fault: { kind: 'rateLimited', detail: error_detail ?? '' }, until, now })
}
