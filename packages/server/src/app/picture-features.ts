import { hasActionBy } from '#features/actions/index.ts'
import { findServer } from '#features/federation/index.ts'
import { downloadPublic } from '#features/files/index.ts'
import { pictureEndpoints } from '#features/pictures/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import type { FileFeatures } from './file-features.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

/** The pictures of profiles at the host of the tenant who shows them. */
export function wirePictures(
  { db, clock, jobs, egress }: Services,
  { tenants, identities, emit }: IdentityFeatures,
  { deps }: Pick<FileFeatures, 'deps'>,
): Endpoint[] {
  return pictureEndpoints({
    ...{ db, clock, jobs, egress, tenants, identities, emit },
    findServer: (idTag) => findServer(identities, idTag),
    hasActionBy: (question) => hasActionBy({ db, clock }, question),
    openPublic: (tenant, fileId, asked) => downloadPublic(deps, { tenant, fileId }, asked),
  })
}
