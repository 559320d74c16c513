import {
  createCommunity as createContract,
  createJoinLink as createLinkContract,
  endJoinLink as endLinkContract,
  type IdTag,
  inviteCommunity,
  listJoinLinks as listLinksContract,
  redeemJoinLink as redeemContract,
  toIso,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { type InviteDeps, inviteToFound } from './community-invitation.ts'
import { type CreateCommunityDeps, createCommunity } from './create-community.ts'
import { createJoinLink, endJoinLink, type JoinLinksDeps, listJoinLinks } from './join-links.ts'
import { type RedeemDeps, redeemJoinLink } from './redeem-join-link.ts'

interface CommunityEndpointDeps extends CreateCommunityDeps, InviteDeps {
  readonly links: JoinLinksDeps & RedeemDeps
  readonly tenants: CreateCommunityDeps['tenants']
  readonly serverUrl: (idTag: IdTag) => string
}

export function communityEndpoints(deps: CommunityEndpointDeps): Endpoint[] {
  return [
    bind(createContract, async ({ tenant, caller, params: { idTag }, query, body, ip }) => {
      const { type: kind, name, bio, appDomain, profilePic, ownerIdTag: ownerTag } = body
      const token = query.token ?? body.token
      const asked = { idTag, kind, name, bio, appDomain, profilePic, ownerTag, token }
      const made = await createCommunity(deps, { tenant, caller, ip, ...asked })
      return {
        idTag,
        name: made.name,
        type: 'community' as const,
        createdAt: toIso(made.createdAt),
        ...(made.profilePic === undefined ? {} : { profilePic: made.profilePic }),
      }
    }),
    bind(inviteCommunity, async ({ tenant, caller, body, ip }) => {
      const { targetIdTag, expiresInDays: days = 30, message } = body
      const request = { tenant, caller, targetTag: targetIdTag, days, message, ip }
      const { refId, expiresAt } = await inviteToFound(deps, request)
      // In the fragment, so that no log holds the token.
      const inviteUrl = `${deps.serverUrl(targetIdTag)}/communities/new#token=${refId}`
      return { refId, inviteUrl, targetIdTag, expiresAt }
    }),
    ...joinLinkEndpoints(deps.links),
  ]
}

function joinLinkEndpoints(deps: JoinLinksDeps & RedeemDeps): Endpoint[] {
  return [
    bind(listLinksContract, ({ tenant }) => listJoinLinks(deps, tenant)),
    bind(createLinkContract, ({ tenant, caller, ip, body }) =>
      createJoinLink(deps, { tenant, caller, ip, ...body }),
    ),
    bind(endLinkContract, async ({ tenant, caller, ip, params: { linkId } }) => {
      await endJoinLink(deps, { tenant, caller, ip, linkId })
      return null
    }),
    bind(redeemContract, ({ tenant, caller, body: { code } }) =>
      redeemJoinLink(deps, { tenant, caller, code }),
    ),
  ]
}
