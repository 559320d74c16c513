import type { HostedTenant } from '#features/tenants/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { putRestingName } from './resting-name-store.ts'

const restSecs = 30 * 24 * 3600

/** Keeps the names of a tenant that was removed from whoever registers, for 30 days: others still take a newcomer for the
 * one they knew. Whoever runs the server may give them away at once. */
export async function restNames(
  { clock }: { readonly clock: Clock },
  tx: Writer,
  { idTag, appDomain }: Pick<HostedTenant, 'idTag' | 'appDomain'>,
): Promise<void> {
  const now = nowSecs(clock)
  for (const name of [idTag, appDomain])
    if (name !== undefined) await putRestingName(tx, { name, until: now + restSecs })
}
