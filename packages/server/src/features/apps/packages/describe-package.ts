import { type AppManifest, appNamePattern, isAppVersion } from '@kith/protocol'
import type { AppPackages, DescribedPackage } from '#features/actions/index.ts'
import { getFile } from '#features/files/index.ts'
import type { BlobStore } from '#infra/blobs/index.ts'
import { ownerOf } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { packageFault } from './package-fault.ts'
import type { Packages } from './packages.ts'

interface DescribeDeps {
  readonly db: Database
  readonly clock: Clock
  readonly blobs: Pick<BlobStore, 'openLocal'>
  readonly packages: Packages
}

const nameForm = new RegExp(appNamePattern)

/** What actions ask of packages that are offered. */
export function appPackages(deps: DescribeDeps): AppPackages {
  return {
    async describe(_, { tenant, caller = ownerOf(tenant), fileId, name, version }) {
      if (!nameForm.test(name)) throw invalid('/content/name', 'must not have control characters or /')
      if (!isAppVersion(version)) throw invalid('/content/version', 'must be a version by SemVer 2.0')
      const { file } = await getFile(deps, { tenant, caller, fileId })
      if (!file.content || file.isCopy) throw packageFault('not-a-zip')
      const { hash } = file.content
      await using local = await deps.blobs.openLocal(tenant.tenantId, hash)
      if (!local) throw new Failure('E-UNAVAILABLE', { cause: new Error(`blob ${hash} is missing`) })
      const { manifest } = await deps.packages.check({
        asker: tenant.tenantId,
        file: { path: local.path, size: file.size },
        promised: { name, version },
      })
      return described(manifest)
    },
  }
}

function described({ titles, descriptions, fileTypes, capabilities = [] }: AppManifest): DescribedPackage {
  return {
    ...(titles && { titles }),
    ...(descriptions && { descriptions }),
    ...(fileTypes && { fileTypes }),
    capabilities,
  }
}
