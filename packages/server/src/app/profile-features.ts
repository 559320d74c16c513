import type { IdTag } from '@kith/protocol'
import { type ActionPorts, createAction, inviteByLink } from '#features/actions/index.ts'
import { communityEndpoints } from '#features/communities/index.ts'
import { mayExist } from '#features/federation/index.ts'
import { profileEndpoints, refreshProfile, refreshProfileJob, setPicture } from '#features/profiles/index.ts'
import type { NameCheck } from '#features/registration/index.ts'
import { ownerOf } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import type { Addresses } from './addresses.ts'
import { wireAdministration } from './admin-features.ts'
import type { FileFeatures } from './file-features.ts'
import type { IdentityFeatures } from './identity-features.ts'
import { wirePictures } from './picture-features.ts'
import type { Services } from './services.ts'
import { commit, version } from './version.ts'

interface ProfileParts {
  readonly addresses: Addresses
  readonly ports: ActionPorts
  readonly files: FileFeatures
  readonly names: NameCheck
}

/** Profiles, communities, and what administrators decide about both. */
export function wireProfiles(
  services: Services,
  identity: IdentityFeatures,
  parts: ProfileParts,
): Endpoint[] {
  const { db, clock, jobs, egress, signingKeys } = services
  const { addresses, ports, files } = parts
  const known = { tenants: identity.tenants, identities: identity.identities }
  const deps = { db, clock, jobs, egress, ...known, emit: identity.emit }
  jobs.handle(refreshProfileJob, ({ idTag }) => refreshProfile(deps, idTag as IdTag))
  return [
    ...profileEndpoints({
      discoveryName: services.config.federation.discoveryName,
      ...deps,
      ...files.pictures,
      keys: signingKeys,
      serverUrl: addresses.serverUrl,
      inboxUrl: addresses.inboxUrl,
      serverInfo: { version, commit, features: ['federation'] },
      createAction: (request) => createAction(ports, request),
    }),
    ...wirePictures(services, identity, files),
    ...wireCommunities(services, identity, parts),
    ...wireAdministration(services, identity, { ...deps, ports, addresses }),
  ]
}

function wireCommunities(
  services: Services,
  identity: IdentityFeatures,
  { addresses, ports, files, names }: ProfileParts,
): Endpoint[] {
  const { db, clock, vault } = services
  const { settings, tenants, identities } = identity
  const { assertPicture, openPicture, storePicture, dropPicture } = files.pictures
  return communityEndpoints({
    ...identity.createTenant,
    emit: identity.emit,
    links: {
      ...{ db, clock, vault, emit: identity.emit },
      inviteByLink: (tx, invitation) => inviteByLink(services, tx, invitation),
    },
    db,
    clock,
    vault,
    tenants,
    serverUrl: addresses.serverUrl,
    findCreationPolicy: () => settings.find(serverTenant, 'community.creation'),
    findMaxTenants: () => settings.find(serverTenant, 'limits.max_tenants'),
    assertNames: (wanted, asker) => names.assert(wanted, { cause: 'owner', key: asker }),
    hasIdentity: (idTag) => mayExist(identities, idTag),
    assertPicture,
    async copyPicture({ from, caller, fileId, to }) {
      const bytes = await openPicture(from, caller, fileId)
      const picture = { tenant: to, caller: ownerOf(to), place: 'profilePic', bytes } as const
      const signal = new AbortController().signal
      await setPicture({ clock, storePicture, dropPicture, emit: identity.emit }, { ...picture, signal })
    },
    async askToConnect(community, audienceTag) {
      const input = { type: 'CONN', audienceTag }
      await createAction(ports, { tenant: community, caller: ownerOf(community), input })
    },
  })
}
