import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { communityRoles } from '../roles.ts'
import {
  IdTagInput,
  IsoTime,
  JsonObject,
  ProfileParam,
  pageQuery,
  TimestampInput,
  UnixTime,
  Words,
} from '../schemas.ts'
import { AdminProfile } from './admin-profiles.ts'
import { profileStatuses } from './profiles.ts'

const tag = 'Communities'

export const communityCreationTypes = ['idp', 'domain', 'community'] as const

export const CreatedCommunity = Type.Object({
  idTag: Type.String(),
  name: Type.String(),
  type: Words(['community']),
  profilePic: Type.Optional(Type.String()),
  createdAt: IsoTime,
})
export type CreatedCommunity = Static<typeof CreatedCommunity>

export const createCommunity = contract({
  name: 'createCommunity',
  method: 'PUT',
  path: '/api/profiles/{idTag}',
  tag,
  summary: 'Make a community on this server and become its leader',
  description:
    'For persons of this server, on their own host: with an invitation (`token`, in the query or the body), as an administrator, or without either when the setting `community.creation` is `open`. Administrators may name another leader as `ownerIdTag`. The DNS of the name must point to this server, as for a registration.',
  auth: 'required',
  scope: 'write:profile',
  bucket: 'registration',
  params: Type.Object({ idTag: ProfileParam }),
  query: Type.Object({
    token: Type.Optional(
      Type.String({ maxLength: 100, description: 'refId of an invitation; also taken from the body' }),
    ),
  }),
  body: {
    kind: 'json',
    schema: Type.Object({
      type: Words(communityCreationTypes),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      profilePic: Type.Optional(
        Type.String({ maxLength: 100, description: 'A picture of the caller’s, which is copied' }),
      ),
      appDomain: Type.Optional(IdTagInput),
      bio: Type.Optional(Type.String({ maxLength: 5_000 })),
      ownerIdTag: Type.Optional(IdTagInput),
      token: Type.Optional(Type.String({ maxLength: 100, description: 'refId of an invitation' })),
    }),
  },
  reply: { kind: 'data', status: 200, schema: CreatedCommunity },
  errors: [
    'E-AUTH-FORBIDDEN',
    'E-PROFILE-EXISTS',
    'E-PROFILE-NOTFOUND',
    'E-FILE-NOTFOUND',
    'E-NOTFOUND',
    'E-GONE',
    'E-STATE',
    'E-UNAVAILABLE',
  ],
  example: {
    params: { idTag: 'garden.example.com' },
    body: { type: 'community', name: 'Garden club', bio: 'We grow things.' },
  },
})

export const inviteCommunity = contract({
  name: 'inviteCommunity',
  method: 'POST',
  path: '/api/admin/invite-community',
  tag,
  summary: 'Invite a person of this server to make a community',
  auth: 'required',
  unscoped: true,
  role: 'SADM',
  body: {
    kind: 'json',
    schema: Type.Object({
      targetIdTag: IdTagInput,
      expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30 })),
      message: Type.Optional(Type.String({ maxLength: 500 })),
    }),
  },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({
      refId: Type.String(),
      inviteUrl: Type.String(),
      targetIdTag: Type.String(),
      expiresAt: UnixTime,
    }),
  },
  errors: ['E-PROFILE-NOTFOUND', 'E-STATE'],
  example: { body: { targetIdTag: 'alice.example.com' } },
})

export const updateMember = contract({
  name: 'updateMember',
  method: 'PATCH',
  path: '/api/profiles/{idTag}/membership',
  tag,
  summary: 'Change the role or the status of a member of this community',
  description:
    'On a community’s host: leaders change both, moderators the status of members below them. `public` removes the identity from the community. `Suspended` and `Banned` end by themselves at `banExpiresAt`. One leader always remains.',
  auth: 'required',
  gateway: true,
  scope: 'admin:profile',
  role: 'moderator',
  params: Type.Object({ idTag: ProfileParam }),
  body: {
    kind: 'json',
    schema: Type.Object({
      role: Type.Optional(Words(communityRoles)),
      status: Type.Optional(Words(profileStatuses)),
      banExpiresAt: Type.Optional(TimestampInput),
      banReason: Type.Optional(Type.String({ maxLength: 500 })),
    }),
  },
  reply: { kind: 'data', status: 200, schema: AdminProfile },
  errors: ['E-PROFILE-NOTFOUND', 'E-AUTH-FORBIDDEN', 'E-STATE', 'E-UNAVAILABLE'],
  example: { body: { role: 'moderator' } },
})

export const moderationEvents = ['member.role-changed', 'member.status-changed', 'action.removed'] as const

/** One decision of those who lead a community. */
export const ModerationEntry = Type.Object({
  id: Type.String(),
  event: Words(moderationEvents),
  createdAt: IsoTime,
  actorTag: Type.Optional(Type.String({ description: 'Who decided, where that is known' })),
  details: JsonObject,
})
export type ModerationEntry = Static<typeof ModerationEntry>

export const getModerationLog = contract({
  name: 'getModerationLog',
  method: 'GET',
  path: '/api/me/moderation',
  tag,
  summary: 'What the leaders and moderators of this community decided in the last 180 days, newest first',
  description:
    'Roles and statuses of members (`details.idTag`, `from`, `to`, `status`, `banReason`), and what of others was removed (`details.actionId`, `type`, `issuerTag`, `reason`).',
  auth: 'required',
  gateway: true,
  scope: 'read:profile',
  role: 'moderator',
  query: Type.Object({ limit: pageQuery.limit, cursor: pageQuery.cursor }),
  reply: { kind: 'list', status: 200, schema: ModerationEntry },
  errors: [],
})

export const communityContracts = [createCommunity, inviteCommunity, updateMember, getModerationLog]
