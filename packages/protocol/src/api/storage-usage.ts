import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { Words } from '../schemas.ts'

const tag = 'Files'

/** What a tenant pays for, as clients know it. */
export const storageTiers = ['free', 'pro', 'enterprise'] as const
export type StorageTier = (typeof storageTiers)[number]

export const Usage = Type.Object({
  usedBytes: Type.Integer(),
  reservedBytes: Type.Integer({ description: 'Reserved for uploads in progress' }),
  limitBytes: Type.Integer({ description: '0: no limit' }),
  files: Type.Integer(),
  maxFileBytes: Type.Integer(),
  tier: Words(storageTiers),
})
export type Usage = Static<typeof Usage>

export const getUsage = contract({
  name: 'getUsage',
  method: 'GET',
  path: '/api/me/usage',
  tag,
  summary: 'How much the tenant stores, and its limit',
  auth: 'required',
  gateway: true,
  scope: 'read:files',
  reply: { kind: 'data', status: 200, schema: Usage },
  errors: [],
})

/** What bytes are, for people. */
export const storageKinds = [
  'pictures',
  'films',
  'sounds',
  'documents',
  'databases',
  'previews',
  'others',
] as const
export type StorageKind = (typeof storageKinds)[number]

export const UsageByKind = Type.Object({
  usedBytes: Type.Integer({ description: 'The sum of all kinds' }),
  kinds: Type.Array(
    Type.Object({
      kind: Words(storageKinds, {
        description:
          '`documents`: collaborative ones, with their histories, texts and office files; `previews`: smaller pictures made from pictures; `others`: installed apps too',
      }),
      bytes: Type.Integer(),
    }),
    { description: 'Every kind, once. Bytes that several files have are counted once' },
  ),
  trash: Type.Object(
    { files: Type.Integer(), bytes: Type.Integer() },
    {
      description:
        'What of it is in the trash, folders and previews left out; of more than 100000 files that many',
    },
  ),
})
export type UsageByKind = Static<typeof UsageByKind>

export const getUsageByKind = contract({
  name: 'getUsageByKind',
  method: 'GET',
  path: '/api/me/usage/kinds',
  tag,
  summary: 'What the tenant stores, by kind, and how much the trash holds',
  auth: 'required',
  gateway: true,
  scope: 'read:files',
  reply: { kind: 'data', status: 200, schema: UsageByKind },
  errors: [],
})
