import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { Nullable, pageQuery, RefIdParam, TimestampInput, UnixTime, Words } from '../schemas.ts'

const tag = 'References'

export const referenceTypes = [
  'share.file',
  'email-verify',
  'password-reset',
  'invite',
  'welcome',
  'idp-activate',
  'email-change',
  'community.join',
] as const
export type ReferenceType = (typeof referenceTypes)[number]

const referenceTypeWords = Words(referenceTypes, { description: 'What the reference gives' })
const accessLevelWords = Words(['read', 'write'])

/** A token that stands for a right, as its manager sees it (docs/protocol/sharing.md). */
export const ReferenceView = Type.Object({
  refId: Type.String(),
  type: referenceTypeWords,
  description: Type.Optional(Type.String()),
  createdAt: UnixTime,
  expiresAt: Type.Optional(UnixTime),
  count: Nullable(Type.Integer({ description: 'Remaining uses; null = unlimited' })),
  resourceId: Type.Optional(Type.String()),
  accessLevel: Type.Optional(accessLevelWords),
})
export type ReferenceView = Static<typeof ReferenceView>

/** What a client that has only the id of a reference may see of it. */
export const ReferenceInfo = Type.Object({
  ...Type.Partial(ReferenceView).properties,
  refId: Type.String(),
  type: referenceTypeWords,
  state: Words(['active', 'used', 'expired'], { description: 'Asking does not use it up' }),
})
export type ReferenceInfo = Static<typeof ReferenceInfo>

export const listReferences = contract({
  name: 'listReferences',
  method: 'GET',
  path: '/api/refs',
  tag,
  summary: 'The references that the caller made; for an administrator all of the tenant',
  auth: 'required',
  scope: 'admin:refs',
  query: Type.Object({
    type: Type.Optional(referenceTypeWords),
    filter: Type.Optional(
      Words(['active', 'used', 'expired', 'all'], { description: '`active` when absent' }),
    ),
    resourceId: Type.Optional(Type.String({ maxLength: 128, description: 'Those to this file alone' })),
    limit: pageQuery.limit,
    offset: pageQuery.offset,
  }),
  reply: { kind: 'list', status: 200, schema: ReferenceView },
  errors: [],
})

export const createReference = contract({
  name: 'createReference',
  method: 'POST',
  path: '/api/refs',
  tag,
  summary: 'Make a reference',
  description:
    '`share.file` needs write access to the file, and gives at most the caller’s own level; `invite` needs the role SADM. What recovers an account (`welcome`, `password-reset`, `email-verify`) is for the base tenant’s owner who signed in within the last 15 minutes: it serves once, for 24 hours at most (`welcome`: 30 days), and no list shows it.',
  auth: 'required',
  scope: 'admin:refs',
  body: {
    kind: 'json',
    schema: Type.Object({
      type: referenceTypeWords,
      description: Type.Optional(Type.String({ maxLength: 500 })),
      expiresAt: Type.Optional(TimestampInput),
      count: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }))),
      resourceId: Type.Optional(Type.String({ maxLength: 128 })),
      accessLevel: Type.Optional(accessLevelWords),
    }),
  },
  reply: { kind: 'data', status: 201, schema: ReferenceView },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND'],
  example: { body: { type: 'invite', description: 'For Bob', count: 1 } },
})

export const getReference = contract({
  name: 'getReference',
  method: 'GET',
  path: '/api/refs/{refId}',
  tag,
  summary: 'What a reference is for; all of it for a caller who may manage it',
  auth: 'optional',
  guests: true,
  bucket: 'reference',
  params: Type.Object({ refId: RefIdParam }),
  reply: { kind: 'data', status: 200, schema: ReferenceInfo },
  errors: ['E-NOTFOUND'],
})

/** The same with the id in the body: addresses stand in the logs of proxies. */
export const findReference = contract({
  name: 'findReference',
  method: 'POST',
  path: '/api/refs/find',
  tag,
  summary: 'What a reference is for, with its id in no address',
  auth: 'optional',
  guests: true,
  bucket: 'reference',
  body: { kind: 'json', schema: Type.Object({ refId: RefIdParam }) },
  reply: { kind: 'data', status: 200, schema: ReferenceInfo },
  errors: ['E-NOTFOUND'],
})

export const deleteReference = contract({
  name: 'deleteReference',
  method: 'DELETE',
  path: '/api/refs/{refId}',
  tag,
  summary: 'Revoke a reference and every token given for it, at once',
  auth: 'required',
  scope: 'admin:refs',
  params: Type.Object({ refId: RefIdParam }),
  reply: { kind: 'data', status: 200, schema: Type.Null() },
  errors: ['E-AUTH-FORBIDDEN', 'E-NOTFOUND'],
})

export const referenceContracts = [
  listReferences,
  createReference,
  getReference,
  findReference,
  deleteReference,
]
