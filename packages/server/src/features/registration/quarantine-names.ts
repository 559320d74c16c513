import type { HostedTenant } from '#features/tenants/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { putQuarantinedName } from './quarantined-name-store.ts'

const quarantineSecs = 30 * 24 * 3600

/** Keeps the names of a tenant that was removed from whoever registers, for 30 days: others still take a newcomer for the
 * one they knew. Whoever runs the server may give them away at once. */
export async function quarantineNames(
  { clock }: { readonly clock: Clock },
  tx: Writer,
  { idTag, appDomain }: Pick<HostedTenant, 'idTag' | 'appDomain'>,
): Promise<void> {
  const now = nowSecs(clock)
  for (const name of [idTag, appDomain])
    if (name !== undefined) await putQuarantinedName(tx, { name, until: now + quarantineSecs })
}
