import { type JobContext, JobVerdict } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { Delivery } from './check-token.ts'
import { checkQueued, isSuspended, type StoreDeps, storeToken } from './store-token.ts'
import { isGenuine } from './verify-token.ts'

const maxHeldMs = 7 * 86_400_000

/** Delivers a token that was held for a suspended tenant, once the suspension has ended. It is verified again. */
export async function deliverHeldToken(
  deps: StoreDeps,
  delivery: Delivery,
  { tenantId, createdAtMs }: Pick<JobContext, 'tenantId' | 'createdAtMs'>,
): Promise<void> {
  if (createdAtMs + maxHeldMs <= deps.clock.now()) return
  const tenant = await deps.findTenantById(tenantId)
  if (!tenant) return
  if (isSuspended(tenant)) throw new JobVerdict('the tenant is suspended', { kind: 'retry' })
  const token = checkQueued(delivery, nowSecs(deps.clock))
  if (token && (await isGenuine(deps, token))) await storeToken(deps, token, [tenant])
}
