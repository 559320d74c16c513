import type { HostedTenant } from '#features/tenants/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { putQuarantinedName } from './quarantined-name-store.ts'

const quarantineSecs = 30 * 24 * 3600

/** Keeps the names of a removed tenant unavailable for 30 days, as others would take a new owner for the old one. The
 * operator may give them away at once. */
export async function quarantineNames(
  { clock }: { readonly clock: Clock },
  tx: Writer,
  { idTag, appDomain }: Pick<HostedTenant, 'idTag' | 'appDomain'>,
): Promise<void> {
  const now = nowSecs(clock)
  for (const name of [idTag, appDomain])
    if (name !== undefined) await putQuarantinedName(tx, { name, until: now + quarantineSecs })
}
