import type { Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { countTenants } from './tenant-store.ts'

/** Fails with `E-STATE` when as many tenants live here as may (the setting `limits.max_tenants`; 0 is without limit). */
export async function assertFreeSlot(tx: Writer, maxTenants: number): Promise<void> {
  if (maxTenants > 0 && (await countTenants(tx)) >= maxTenants)
    throw new Failure('E-STATE', { message: 'This server has as many tenants as it may.' })
}
