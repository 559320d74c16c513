import type { Writer } from '#infra/db/index.ts'
import type { CertificateFault } from './certificate.ts'
import { dueRows, rows, update } from './certificate-rows-store.ts'

// All of these take a handle of the server's own tenant: names are the server's.

interface Hold {
  readonly fault: CertificateFault
  readonly until: number
  /** Authorities do not count renewals with new certificates: a limit that one of them meets says nothing of the other. */
  readonly isRenewal: boolean
}

/** Has all names that are due below a registered domain wait until that time, with the same error. */
export async function holdZone(
  tx: Writer,
  zone: string,
  { fault, until, isRenewal, now }: Hold & { readonly now: number },
): Promise<void> {
  await update(tx, { next_attempt_at: until, error_kind: fault.kind, error_detail: fault.detail })
    .where('zone', '=', zone)
    .where('chain', isRenewal ? 'is not' : 'is', null)
    .where('renew_at', '<=', now)
    .where('next_attempt_at', '<', until)
    .execute()
}

/** Has names that came due since a rate limit was met wait with the others of their domain: each further attempt would make
 * all of them wait longer. */
export async function holdDue(tx: Writer, now: number): Promise<void> {
  for (const isRenewal of [true, false])
    for (const { zone, until, error_detail } of await listHeld(tx, { isRenewal, now })) {
      const fault = { kind: 'rateLimited', detail: error_detail ?? '' }
      await holdZone(tx, zone, { fault, until, isRenewal, now })
    }
}

/** The domains below which names wait for the end of a rate limit while others are due. */
function listHeld(tx: Writer, { isRenewal, now }: { readonly isRenewal: boolean; readonly now: number }) {
  const hasChain = isRenewal ? 'is not' : 'is'
  return rows(tx)
    .select(({ fn }) => [
      'zone',
      fn.max('next_attempt_at').as('until'),
      fn.max('error_detail').as('error_detail'),
    ])
    .where('error_kind', '=', 'rateLimited')
    .where('chain', hasChain, null)
    .where('next_attempt_at', '>', now)
    .where('zone', 'in', dueRows(tx, now).where('chain', hasChain, null).select('zone'))
    .groupBy('zone')
    .execute()
}
