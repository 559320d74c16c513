import type { ByAdmin } from '#features/admin/index.ts'
import { findBaseTenant } from '#features/tenants/index.ts'
import { operatorOf } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { Program } from './open-program.ts'

/** Who runs commands, as the use cases of administration want to know it. Fails before the first start of the server. */
export async function getOperator({ services }: Pick<Program, 'services'>): Promise<ByAdmin> {
  const base = await findBaseTenant(services.db.reader(serverTenant))
  if (!base)
    throw new Failure('E-STATE', { message: 'The base tenant is made by the first start: kith serve.' })
  return { tenant: base, caller: operatorOf(base), by: 'command line' }
}
