import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { variantNames } from '../ids.ts'
import { communityRoles } from '../roles.ts'
import {
  CommaList,
  IdTagOf,
  IsoTime,
  JsonObject,
  ProfileParam,
  pageQuery,
  sortDirection,
  UnixTime,
  Words,
} from '../schemas.ts'
import { preconditions } from './files.ts'

const tag = 'Profiles'

export const profileTypes = ['person', 'community'] as const
export const profileStatuses = ['Active', 'Trusted', 'Blocked', 'Muted', 'Suspended', 'Banned'] as const
export type ProfileStatus = (typeof profileStatuses)[number]
export const connectionStates = ['disconnected', 'pending', 'connected'] as const
export const relationships = ['none', 'following', 'pending', 'connected', 'blocked', 'muted'] as const

export const ServerInfo = Type.Object({
  version: Type.String(),
  commit: Type.Optional(
    Type.String({ description: 'The commit that the program was made of, where that is known' }),
  ),
  features: Type.Array(Type.String()),
})

/** An identity and its relation with the tenant (docs/protocol/profiles.md). */
export const Profile = Type.Object({
  tnId: Type.Optional(Type.Integer({ description: 'Only for tenants of this server' })),
  idTag: Type.String(),
  name: Type.String(),
  profilePic: Type.Optional(Type.String()),
  coverPic: Type.Optional(Type.String()),
  type: Words(profileTypes),
  status: Words(profileStatuses),
  roles: Type.Array(Type.String()),
  x: Type.Optional(JsonObject),
  createdAt: IsoTime,
  updatedAt: Type.Optional(IsoTime),
  following: Type.Optional(Type.Boolean({ description: 'This tenant follows it' })),
  follower: Type.Optional(Type.Boolean({ description: 'It follows this tenant' })),
  connected: Type.Optional(Words(connectionStates)),
  role: Type.Optional(Type.String({ description: 'Its role in this community' })),
  relationship: Type.Optional(Words(relationships)),
  banExpiresAt: Type.Optional(IsoTime),
  banReason: Type.Optional(Type.String()),
})
export type Profile = Static<typeof Profile>

/** What `GET /api/me` answers: the public form, and for the owner the profile form as well. */
export const Me = Type.Object({
  idTag: Type.String(),
  name: Type.String(),
  publicKey: Type.String({ description: 'PEM, SPKI, P-384' }),
  serverInfo: ServerInfo,
  type: Words(profileTypes),
  profilePic: Type.Optional(Type.String()),
  coverPic: Type.Optional(Type.String()),
  tnId: Type.Optional(Type.Integer()),
  status: Type.Optional(Words(profileStatuses)),
  roles: Type.Optional(Type.Array(Type.String())),
  x: Type.Optional(JsonObject),
  createdAt: Type.Optional(IsoTime),
})
export type Me = Static<typeof Me>

export const getMe = contract({
  name: 'getMe',
  method: 'GET',
  path: '/api/me',
  aliases: ['/api/me/full'],
  tag,
  summary: 'The tenant of this host; for its owner also what only the owner sees',
  description: 'A bearer that is not usable here is ignored: the answer is then the public form.',
  auth: 'optional',
  gateway: true,
  ignoresBadBearer: true,
  guests: true,
  reply: { kind: 'data', status: 200, schema: Me },
  errors: [],
})

export const updateMe = contract({
  name: 'updateMe',
  method: 'PATCH',
  path: '/api/me',
  tag,
  summary: 'Change this tenant’s profile',
  auth: 'required',
  gateway: true,
  scope: 'write:profile',
  role: 'leader',
  body: {
    kind: 'json',
    schema: Type.Object({
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      x: Type.Optional(JsonObject),
    }),
  },
  reply: { kind: 'data', status: 200, schema: Me },
  errors: ['E-AUTH-FORBIDDEN'],
  example: { body: { name: 'Alice', x: { bio: 'Gardener' } } },
})

const picture = {
  method: 'PUT',
  tag,
  auth: 'required',
  gateway: true,
  scope: 'write:profile',
  role: 'leader',
  body: { kind: 'bytes' },
  errors: ['E-MEDIATYPE', 'E-TOOLARGE', 'E-QUOTA'],
} as const

export const updateMyImage = contract({
  ...picture,
  name: 'updateMyImage',
  path: '/api/me/image',
  summary: 'Give this tenant a profile picture',
  description:
    'The bytes of an image; a square of at most 400 pixels is cut from its middle. The picture it replaces is removed. It is public.',
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ profilePic: Type.String(), fileId: Type.String() }),
  },
})

export const updateMyCover = contract({
  ...picture,
  name: 'updateMyCover',
  path: '/api/me/cover',
  summary: 'Give this tenant a cover picture',
  description:
    'As `PUT /api/me/image`; the picture becomes 16:9, of at most 1920 by 1080 pixels, cut from the middle.',
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ coverPic: Type.String(), fileId: Type.String() }),
  },
})

export const getProfile = contract({
  name: 'getProfile',
  method: 'GET',
  path: '/api/profiles/{idTag}',
  tag,
  summary: 'A profile, of this server or of another one',
  auth: 'optional',
  gateway: true,
  scope: 'read:profile',
  params: Type.Object({ idTag: ProfileParam }),
  reply: { kind: 'data', status: 200, schema: Profile },
  errors: ['E-PRECONDITION', 'E-PROFILE-NOTFOUND', 'E-UNAVAILABLE'],
})

const pictureParts = {
  method: 'GET',
  tag,
  description:
    'Fetched from the identity’s server, checked and kept here, so that a page loads nothing from elsewhere. Callers other than the owner are answered only for this tenant, for the issuers of actions and for the members that the lists show them.',
  auth: 'optional',
  queryToken: true,
  scope: 'read:profile',
  params: Type.Object({ idTag: ProfileParam }),
  query: Type.Object({
    variant: Type.Optional(
      Words(variantNames, {
        description:
          'Of tenants of this server. Of others the picture comes as they have it: a variant is not what its id commits to.',
      }),
    ),
  }),
  headers: Type.Object(preconditions),
  reply: { kind: 'bytes', status: 200 },
  errors: ['E-PROFILE-NOTFOUND', 'E-FILE-NOTFOUND', 'E-PRECONDITION', 'E-UNAVAILABLE'],
} as const

export const getProfileImage = contract({
  ...pictureParts,
  name: 'getProfileImage',
  path: '/api/profiles/{idTag}/image',
  summary: 'The profile picture of an identity, of this server or of another one',
})

export const getProfileCover = contract({
  ...pictureParts,
  name: 'getProfileCover',
  path: '/api/profiles/{idTag}/cover',
  summary: 'The cover picture of an identity, of this server or of another one',
})

export const listProfiles = contract({
  name: 'listProfiles',
  method: 'GET',
  path: '/api/profiles',
  tag,
  summary: 'The identities that this tenant has a relation with; for a community its members',
  description:
    'A caller who may not act for the tenant sees the members of a community that it belongs to, and otherwise an empty list. `community` may be another community of this server.',
  auth: 'required',
  gateway: true,
  scope: 'read:profile',
  query: Type.Object({
    ...pageQuery,
    sort: Type.Optional(Words(['idTag'], { description: 'The only order there is' })),
    sortDir: Type.Optional(sortDirection),
    type: Type.Optional(Words(profileTypes, { description: 'Profiles of this type alone' })),
    status: Type.Optional(CommaList(profileStatuses)),
    connected: Type.Optional(
      Words(connectionStates, { description: 'How they are connected with the tenant' }),
    ),
    following: Type.Optional(Type.Boolean({ description: 'Whether the tenant follows them' })),
    follower: Type.Optional(Type.Boolean({ description: 'Whether they follow the tenant' })),
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'A part of the identity or of the name, without case and accents',
      }),
    ),
    idTag: Type.Optional(IdTagOf('This identity alone')),
    community: Type.Optional(IdTagOf('The community whose members are listed')),
    role: Type.Optional(Words(communityRoles, { description: 'Their role in the community' })),
  }),
  reply: { kind: 'list', status: 200, schema: Profile },
  errors: [],
})

export const relationshipChanges = [
  'follow',
  'unfollow',
  'connect',
  'disconnect',
  'block',
  'unblock',
  'mute',
  'unmute',
] as const
export type RelationshipChange = (typeof relationshipChanges)[number]

export const updateRelationship = contract({
  name: 'updateRelationship',
  method: 'PATCH',
  path: '/api/profiles/{idTag}',
  tag,
  summary: 'Follow, connect, block or mute an identity, or stop doing so',
  auth: 'required',
  gateway: true,
  scope: 'write:profile',
  role: 'leader',
  params: Type.Object({ idTag: ProfileParam }),
  body: { kind: 'json', schema: Type.Object({ relationship: Words(relationshipChanges) }) },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({
      idTag: Type.String(),
      relationship: Words(relationships),
      updatedAt: IsoTime,
    }),
  },
  errors: ['E-PROFILE-NOTFOUND', 'E-AUTH-FORBIDDEN', 'E-STATE', 'E-UNAVAILABLE'],
  example: { body: { relationship: 'follow' } },
})

export const IdentityDocument = Type.Object({
  idTag: Type.String(),
  serverUrl: Type.String(),
  publicKey: Type.String({ description: 'PEM, SPKI, P-384: the current key' }),
  inboxUrl: Type.String(),
  keys: Type.Array(
    Type.Object({
      kid: Type.String(),
      publicKey: Type.String(),
      expiresAt: Type.Optional(UnixTime),
      revokedAt: Type.Optional(UnixTime),
    }),
  ),
  name: Type.String(),
  type: Words(profileTypes),
  profilePic: Type.Optional(Type.String()),
})
export type IdentityDocument = Static<typeof IdentityDocument>

export const getIdentityDocument = contract({
  name: 'getIdentityDocument',
  method: 'GET',
  path: '/.well-known/service/id-tag',
  tag,
  summary: 'Where an identity of this server lives and which keys it signs with',
  description:
    'Also answered at the path with `DISCOVERY_NAME` in the place of `service`. Without `idTag` it is about the tenant of the host.',
  auth: 'none',
  anyHost: true,
  query: Type.Object({
    idTag: Type.Optional(IdTagOf('Whose document; the tenant’s of the host when absent')),
  }),
  reply: { kind: 'data', status: 200, schema: IdentityDocument },
  errors: ['E-PROFILE-NOTFOUND', 'E-PRECONDITION'],
})

export const profileContracts = [
  getMe,
  updateMe,
  updateMyImage,
  updateMyCover,
  listProfiles,
  getProfile,
  getProfileImage,
  getProfileCover,
  updateRelationship,
  getIdentityDocument,
]
