import type { AppName } from '#features/accounts/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { InstalledApp } from './installed-app.ts'
import { changeInstalled, findInstalled } from './installed-app-store.ts'

/** Says whether newer versions of an installed app are installed when they are offered, also where its offer was taken back. */
export async function chooseUpdates(
  { db }: { readonly db: Database },
  { tenantId }: Tenant,
  { autoUpdate, ...app }: AppName & { readonly autoUpdate: boolean },
): Promise<InstalledApp> {
  return db.transact(tenantId, async (tx) => {
    const found = await findInstalled(tx, app)
    if (!found) throw new Failure('E-NOTFOUND')
    const chosen = { ...found, autoUpdate }
    await changeInstalled(tx, chosen)
    return chosen
  })
}
