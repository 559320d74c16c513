import { type AppName, endAppSessions, type RevokeDeps } from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import { releaseBlob } from '#features/files/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { deleteInstalled, findInstalled } from './installed-app-store.ts'

export interface UninstallDeps extends RevokeDeps {
  readonly db: Database
}

/** Uninstalls an app and gives its bytes back. The tokens that it was given end at once; what was made with it stays. */
export async function uninstallApp(
  deps: UninstallDeps,
  {
    tenant,
    caller,
    ip,
    ...app
  }: AppName & {
    readonly tenant: Tenant
    readonly caller: Identified
    readonly ip: string
  },
): Promise<void> {
  await deps.db.transact(tenant.tenantId, async (tx) => {
    const installed = await findInstalled(tx, app)
    if (!installed) throw new Failure('E-NOTFOUND')
    await deleteInstalled(tx, app)
    await endAppSessions(deps, tx, { ...app, idTag: tenant.idTag })
    await releaseBlob(tx, installed.hash, nowSecs(deps.clock))
    const { version } = installed.manifest
    const details = { publisherTag: app.publisherTag, name: app.name, version }
    await audit(deps, tx, { event: 'app.uninstalled', actorTag: caller.idTag, ip, details })
  })
}
