import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { communityRoles } from '../roles.ts'
import {
  CommaList,
  IdTagInput,
  IsoTime,
  JsonObject,
  pageQuery,
  sortDirection,
  UnixTime,
  Words,
} from '../schemas.ts'

const tag = 'Profiles'

export const profileTypes = ['person', 'community'] as const
export const profileStatuses = ['Active', 'Trusted', 'Blocked', 'Muted', 'Suspended', 'Banned'] as const
export type ProfileStatus = (typeof profileStatuses)[number]
export const connectionStates = ['disconnected', 'pending', 'connected'] as const
export const relationships = ['none', 'following', 'pending', 'connected', 'blocked', 'muted'] as const

export const ServerInfo = Type.Object({ version: Type.String(), features: Type.Array(Type.String()) })

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

export const updateMyImage = contract({
  name: 'updateMyImage',
  method: 'PUT',
  path: '/api/me/image',
  tag,
  summary: 'Give this tenant a profile picture',
  description:
    'The bytes of an image; a square of at most 400 pixels is cut from its middle. The picture it replaces is removed. It is public.',
  auth: 'required',
  scope: 'write:profile',
  role: 'leader',
  body: { kind: 'bytes' },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ profilePic: Type.String(), fileId: Type.String() }),
  },
  errors: ['E-MEDIATYPE', 'E-TOOLARGE', 'E-QUOTA'],
})

export const updateMyCover = contract({
  name: 'updateMyCover',
  method: 'PUT',
  path: '/api/me/cover',
  tag,
  summary: 'Give this tenant a cover picture',
  description:
    'As `PUT /api/me/image`; the picture becomes 16:9, of at most 1920 by 1080 pixels, cut from the middle.',
  auth: 'required',
  scope: 'write:profile',
  role: 'leader',
  body: { kind: 'bytes' },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ coverPic: Type.String(), fileId: Type.String() }),
  },
  errors: ['E-MEDIATYPE', 'E-TOOLARGE', 'E-QUOTA'],
})

export const getProfile = contract({
  name: 'getProfile',
  method: 'GET',
  path: '/api/profiles/{idTag}',
  tag,
  summary: 'A profile, of this server or of another one',
  auth: 'optional',
  scope: 'read:profile',
  params: Type.Object({ idTag: IdTagInput }),
  reply: { kind: 'data', status: 200, schema: Profile },
  errors: ['E-PROFILE-NOTFOUND', 'E-UNAVAILABLE'],
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
  scope: 'read:profile',
  query: Type.Object({
    ...pageQuery,
    sort: Type.Optional(Words(['idTag'])),
    sortDir: Type.Optional(sortDirection),
    type: Type.Optional(Words(profileTypes)),
    status: Type.Optional(CommaList(profileStatuses)),
    connected: Type.Optional(Words(connectionStates)),
    following: Type.Optional(Type.Boolean()),
    follower: Type.Optional(Type.Boolean()),
    q: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    idTag: Type.Optional(IdTagInput),
    community: Type.Optional(IdTagInput),
    role: Type.Optional(Words(communityRoles)),
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
  scope: 'write:profile',
  role: 'leader',
  params: Type.Object({ idTag: IdTagInput }),
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
  query: Type.Object({ idTag: Type.Optional(IdTagInput) }),
  reply: { kind: 'data', status: 200, schema: IdentityDocument },
  errors: ['E-PROFILE-NOTFOUND'],
})

export const profileContracts = [
  getMe,
  updateMe,
  updateMyImage,
  updateMyCover,
  listProfiles,
  getProfile,
  updateRelationship,
  getIdentityDocument,
]
