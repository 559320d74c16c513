import {
  getAppAsset as assetContract,
  installApp as installContract,
  listInstalledApps as installedContract,
  listApps as listContract,
  uninstallApp as uninstallContract,
  updateInstalledApp as updateContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import { installedView, offerView } from './app-view.ts'
import { type AssetDeps, serveAsset } from './content/serve-asset.ts'
import { chooseUpdates } from './install/choose-updates.ts'
import { type InstallDeps, installApp } from './install/install-app.ts'
import { listInstalled } from './install/installed-app-store.ts'
import { type UninstallDeps, uninstallApp } from './install/uninstall-app.ts'
import { listApps } from './offers/list-apps.ts'

export function appEndpoints(deps: InstallDeps & AssetDeps & UninstallDeps): Endpoint[] {
  return [
    bind(listContract, async ({ tenant, caller, query }) => {
      const page = await listApps(deps, { tenant, caller, ...query })
      return { ...page, items: page.items.map(offerView) }
    }),
    bind(installedContract, async ({ tenant }) =>
      (await listInstalled(deps.db.reader(tenant.tenantId))).map(installedView),
    ),
    bind(installContract, async ({ tenant, caller, body, ip, signal }) =>
      installedView(await installApp(deps, { tenant, caller, ...body, ip, signal })),
    ),
    bind(updateContract, async ({ tenant, params: { publisher, name }, body }) =>
      installedView(await chooseUpdates(deps, tenant, { publisherTag: publisher, name, ...body })),
    ),
    bind(uninstallContract, async ({ tenant, caller, params: { publisher, name }, ip }) => {
      await uninstallApp(deps, { tenant, caller, ip, publisherTag: publisher, name })
    }),
    bind(assetContract, async ({ tenant, host, params, headers, isHead }) => {
      // A worker of the tenant's origin would have what the sandbox takes from a page. A page of a tab could go anywhere with what
      // somebody types into it, and looks like one of the host itself.
      const isTab = headers['sec-fetch-dest'] === 'document'
      if (isTab || headers['service-worker'] !== undefined) throw new Failure('E-FILE-NOTFOUND')
      return serveAsset(deps, {
        tenant,
        host,
        ...params,
        conditions: headers,
        isHead,
      })
    }),
  ]
}
