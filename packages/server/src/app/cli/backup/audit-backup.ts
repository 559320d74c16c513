import { auditCommand } from '#features/audit/index.ts'
import { findBaseTenant } from '#features/tenants/index.ts'
import type { Config } from '#infra/config/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { openPresentDatabase } from '../present-database.ts'

interface TakenBackup {
  readonly withMasterKey: boolean
  readonly clock: Clock
}

/** Notes a backup in the trail of the base tenant. Nothing is written into a database of another version: `E-STATE`. */
export async function auditBackup(config: Config, { withMasterKey, clock }: TakenBackup): Promise<void> {
  const present = await openPresentDatabase(config)
  try {
    if (!present?.isCurrent)
      throw new Failure('E-STATE', { message: 'The database is that of another version of the program.' })
    const { db } = present
    const base = await findBaseTenant(db.reader(serverTenant))
    if (!base) throw new Failure('E-STATE', { message: 'There is no base tenant yet.' })
    const entry = { event: 'server.backed-up', details: { withMasterKey } } as const
    await db.transact(base.tenantId, (tx) => auditCommand({ clock }, tx, entry))
  } finally {
    await present?.db.close()
  }
}
