import type { AppPackages } from '#features/actions/index.ts'
import { appEndpoints, appPackages, handleAppJobs, PackageIndexes, Packages } from '#features/apps/index.ts'
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
  { tenants }: Pick<IdentityFeatures, 'tenants'>,
  files: Pick<FileFeatures, 'deps'>,
): AppFeature {
  const { limitsOf, leases } = files.deps
  const packages = new Packages(blobs)
  const deps = { db, clock, blobs, jobs, tenants, packages, limitsOf, leases }
  handleAppJobs(deps)
  return {
    endpoints: appEndpoints({ ...deps, indexes: new PackageIndexes() }),
    forActions: { appPackages: appPackages(deps) },
  }
}
