import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { Nullable, RefIdParam, TimestampInput, UnixTime, Words } from '../schemas.ts'

const tag = 'Communities'

/** Links into one community that serve at a time. */
export const maxJoinLinks = 100

/** A link into a community, for those who decide who joins it (docs/protocol/profiles.md, Joining by a link). */
export const JoinLink = Type.Object({
  linkId: Type.String({ description: 'Names the link, and is not its code' }),
  code: Type.String({ description: 'A credential: it stands behind the `#` of `/join`' }),
  description: Type.Optional(Type.String()),
  createdBy: Type.String(),
  createdAt: UnixTime,
  expiresAt: Type.Optional(UnixTime),
  count: Nullable(Type.Integer({ description: 'Remaining uses; null = unlimited' })),
})
export type JoinLink = Static<typeof JoinLink>

export const listJoinLinks = contract({
  name: 'listJoinLinks',
  method: 'GET',
  path: '/api/me/join-links',
  tag,
  summary: 'The links into this community that serve now, newest first',
  auth: 'required',
  gateway: true,
  scope: 'admin:refs',
  role: 'moderator',
  reply: { kind: 'data', status: 200, schema: Type.Array(JoinLink) },
  errors: ['E-NOTFOUND'],
})

export const createJoinLink = contract({
  name: 'createJoinLink',
  method: 'POST',
  path: '/api/me/join-links',
  tag,
  summary: 'Make a link that lets its holders join this community',
  description:
    'It serves while its maker is at least a moderator. A community has at most 100 at a time (409 `E-STATE`).',
  auth: 'required',
  gateway: true,
  scope: 'admin:refs',
  role: 'moderator',
  body: {
    kind: 'json',
    schema: Type.Object({
      description: Type.Optional(Type.String({ maxLength: 500 })),
      expiresAt: Type.Optional(TimestampInput),
      count: Type.Optional(
        Nullable(
          Type.Integer({ minimum: 1, maximum: 1_000_000, description: '1 when absent; null = unlimited' }),
        ),
      ),
    }),
  },
  reply: { kind: 'data', status: 201, schema: JoinLink },
  errors: ['E-NOTFOUND', 'E-STATE'],
  example: { body: { description: 'On the notice board', count: 20 } },
})

export const endJoinLink = contract({
  name: 'endJoinLink',
  method: 'DELETE',
  path: '/api/me/join-links/{linkId}',
  tag,
  summary: 'End a link into this community, whoever made it; who has used it stays invited',
  auth: 'required',
  gateway: true,
  scope: 'admin:refs',
  role: 'moderator',
  params: Type.Object({
    linkId: Type.String({ minLength: 1, maxLength: 100, description: 'The link’s own name, not its code' }),
  }),
  reply: { kind: 'data', status: 200, schema: Type.Null() },
  errors: ['E-NOTFOUND'],
})

/** With the code in the body: addresses stand in the logs of proxies. */
export const redeemJoinLink = contract({
  name: 'redeemJoinLink',
  method: 'POST',
  path: '/api/me/join-links/redeem',
  tag,
  summary: 'Become invited into this community by the code of a link',
  description:
    'The community then accepts the caller’s CONN without asking. Takes one use, of the same identity once. A code that is unknown, used up or over, and an identity that the community keeps out, are all answered 404 `E-NOTFOUND`. Members are told so, and take no use.',
  auth: 'required',
  gateway: true,
  bucket: 'reference',
  scope: 'write:actions',
  body: { kind: 'json', schema: Type.Object({ code: RefIdParam }) },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ standing: Words(['invited', 'member']) }),
  },
  errors: ['E-NOTFOUND'],
  example: { body: { code: '0123456789ABCDEFabcdefgh' }, data: { standing: 'invited' } },
})

export const joinLinkContracts = [listJoinLinks, createJoinLink, endJoinLink, redeemJoinLink]
