import type { AppPackages } from '#features/actions/index.ts'
import {
  appEndpoints,
  appPackages,
  PackageIndexes,
  Packages,
  updateApp,
  updateAppJob,
} from '#features/apps/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import type { FileFeatures } from './file-features.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

export interface AppFeature {
  readonly endpoints: readonly Endpoint[]
  /** Used where APKG actions are created. */
  readonly forActions: { readonly appPackages: AppPackages }
}

export function openAppFeature(
  { db, clock, blobs, jobs }: Pick<Services, 'db' | 'clock' | 'blobs' | 'jobs'>,
  { tenants, emit }: Pick<IdentityFeatures, 'tenants' | 'emit'>,
  files: Pick<FileFeatures, 'deps'>,
): AppFeature {
  const { limitsOf, leases, egress, findServer, proxyToken } = files.deps
  const reading = { egress, findServer, proxyToken }
  const deps = { db, clock, blobs, tenants, ...reading, packages: new Packages(), limitsOf, leases }
  jobs.handle(updateAppJob, (payload, context) => updateApp(deps, payload, context))
  return {
    endpoints: appEndpoints({ ...deps, emit, indexes: new PackageIndexes() }),
    forActions: { appPackages: appPackages(deps) },
  }
}
