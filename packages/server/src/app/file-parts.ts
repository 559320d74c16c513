import { type ActionPorts, prepareFileShare, settleTried } from '#features/actions/index.ts'
import { findServer } from '#features/federation/index.ts'
import type { ContentsByType } from '#features/files/index.ts'
import { findNames } from '#features/profiles/index.ts'
import { getTenant } from '#features/tenants/index.ts'
import type { Addresses } from './addresses.ts'
import type { FileParts, FileTelling } from './file-features.ts'
import type { IdentityFeatures } from './identity-features.ts'
import { storageLimitsOf } from './settings-ports.ts'

/** What the files of a server need of its other features. */
export function fileParts(
  { tenants, authenticator, identities, settings, proxyToken, emit }: IdentityFeatures,
  addresses: Addresses,
  contents: ContentsByType,
): FileParts {
  return {
    emit,
    tenants,
    findNames,
    limitsOf: (tenantId) => storageLimitsOf(settings, tenantId),
    tierOf: async () => 'free',
    imageFormatOf: (tenantId) => settings.find(tenantId, 'file.image_format'),
    contents,
    recall: (held) => authenticator.recall(held),
    serverUrlOf: ({ idTag }) => addresses.serverUrl(idTag),
    findServer: (ownerTag) => findServer(identities, ownerTag),
    proxyToken: async (tenantId, target) => proxyToken(await getTenant(tenants, tenantId), target),
  }
}

/** What they tell to the actions of the server. */
export function fileTelling(ports: ActionPorts, { tenants }: Pick<IdentityFeatures, 'tenants'>): FileTelling {
  return {
    prepareFileShare: (notice) => prepareFileShare(ports, notice),
    onTried: (tenantId, { fileId, ownerTag: issuerTag }, verdict) =>
      settleTried({ ...ports, tenants }, tenantId, { fileId, issuerTag, verdict }),
  }
}
