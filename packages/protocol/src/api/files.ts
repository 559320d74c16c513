import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { fileTypes, variantNames } from '../ids.ts'
import {
  CommaList,
  FileIdParam,
  IsoTime,
  Nullable,
  TimestampInput,
  UnixTime,
  VariantIdParam,
  Words,
} from '../schemas.ts'
import { Visibility } from './action-shapes.ts'

const tag = 'Files'

export const uploadPresets = ['default', 'profile-picture', 'cover-photo', 'thumbnail-only', 'raw'] as const
export type UploadPreset = (typeof uploadPresets)[number]

/** What has become of a file (docs/protocol/file-life.md, Status). */
export const fileStatuses = ['M', 'P', 'A', 'D'] as const
export type FileStatus = (typeof fileStatuses)[number]
export const FileStatus = Words(fileStatuses, {
  description:
    '`M` made: the bytes are safe and readable as `orig`; `P` variants are being made; `A` available; `D` in the trash',
})

/** What a tenant pays for, as clients know it. */
export const storageTiers = ['free', 'pro', 'enterprise'] as const
export type StorageTier = (typeof storageTiers)[number]

const fileMembers = {
  fileId: Type.String(),
  status: FileStatus,
  fileTp: Words(fileTypes, {
    description:
      '`BLOB` bytes, `CRDT` a collaborative document, `RTDB` a real-time database, `FLDR` a folder',
  }),
  contentType: Type.String(),
  fileName: Type.String(),
  tags: Type.Array(Type.String()),
}

/** What a caller has noted about a file for itself. */
export const FileUserData = Type.Object({
  pinned: Type.Boolean(),
  starred: Type.Boolean(),
  accessedAt: Type.Optional(IsoTime),
})
export type FileUserData = Static<typeof FileUserData>

/** A file as lists and metadata show it. */
export const FileView = Type.Object({
  ...fileMembers,
  parentId: Nullable(Type.String()),
  size: Type.Optional(Type.Integer({ description: 'Bytes' })),
  visibility: Visibility,
  owner: Type.Object({ idTag: Type.String(), name: Type.String() }),
  createdAt: IsoTime,
  userData: Type.Optional(FileUserData),
  deletedAt: Type.Optional(IsoTime),
  originalParentId: Type.Optional(Nullable(Type.String())),
  x: Type.Optional(
    Type.Object({
      processingError: Type.Optional(Type.String({ description: 'Why an image has no variants' })),
      home: Type.Optional(
        Type.String({
          description:
            'Of a copy of a shared file: the identity whose host has the original. For a folder, a document or a database only that host has the content',
        }),
      ),
      deletedBy: Type.Optional(
        Type.Object(
          {
            idTag: Type.Optional(Type.String()),
            linkOf: Type.Optional(
              Type.String({ description: 'A guest with a link that this identity made' }),
            ),
          },
          {
            description:
              'Who deleted it permanently without owning it: it stays in the trash of its owner for 30 days, where only the owner sees it',
          },
        ),
      ),
    }),
  ),
})
export type FileView = Static<typeof FileView>

export const CreatedFile = Type.Object({ ...fileMembers, createdAt: UnixTime })
export type CreatedFile = Static<typeof CreatedFile>

export const FileDescriptor = Type.Object({
  fileId: Type.String(),
  contentType: Type.String(),
  fileName: Type.String(),
  size: Type.Integer({ description: 'Bytes' }),
  createdAt: IsoTime,
  variants: Type.Array(
    Type.Object({
      id: Words(variantNames),
      width: Type.Integer(),
      height: Type.Integer(),
      size: Type.Integer({ description: 'Bytes' }),
      format: Type.String(),
    }),
    {
      description:
        'The variants of a picture; empty for other files and for pictures that could not be processed',
    },
  ),
  sha256: Type.Optional(Type.String({ description: 'base64url, of the original bytes' })),
  salt: Type.Optional(
    Type.String({ description: '16 bytes, base64url; `fileId` commits to it and to `sha256`' }),
  ),
})
export type FileDescriptor = Static<typeof FileDescriptor>

export const uploadFile = contract({
  name: 'uploadFile',
  method: 'POST',
  path: '/api/files/{preset}/{fileName}',
  tag,
  summary: 'Upload a file: raw bytes, or a multipart form whose part `file` holds them',
  auth: 'required',
  scope: 'write:files',
  guests: true,
  params: Type.Object({
    preset: Words(uploadPresets),
    fileName: Type.String({ minLength: 1, maxLength: 1024 }),
  }),
  query: Type.Object({
    createdAt: Type.Optional(TimestampInput),
    tags: Type.Optional(CommaList()),
    parentId: Type.Optional(Type.String()),
    visibility: Type.Optional(Words(['P', 'V', 'F', 'C'])),
  }),
  queryAliases: { created_at: 'createdAt' },
  body: { kind: 'bytes' },
  reply: { kind: 'data', status: 201, schema: CreatedFile },
  errors: ['E-TOOLARGE', 'E-QUOTA', 'E-FILE-NOTFOUND', 'E-UNAVAILABLE'],
})

// The last two are a browser's: they tell a script, which could not follow a redirect, from an `<img>`.
const conditions = Type.Object({
  range: Type.Optional(Type.String()),
  'if-none-match': Type.Optional(Type.String()),
  'if-range': Type.Optional(Type.String()),
  origin: Type.Optional(Type.String()),
  'sec-fetch-mode': Type.Optional(Type.String()),
})

export const downloadFile = contract({
  name: 'downloadFile',
  method: 'GET',
  path: '/api/files/{fileId}',
  tag,
  summary: 'The bytes of a file, or of one of its variants',
  auth: 'optional',
  scope: 'read:files',
  guests: true,
  queryToken: true,
  params: Type.Object({ fileId: FileIdParam }),
  query: Type.Object({
    variant: Type.Optional(Words(variantNames)),
    download: Type.Optional(Type.String({ description: '`1` forces an attachment' })),
  }),
  headers: conditions,
  reply: { kind: 'bytes', status: 200, redirects: true },
  errors: ['E-FILE-NOTFOUND', 'E-RANGE', 'E-UNAVAILABLE'],
})

export const downloadVariant = contract({
  name: 'downloadVariant',
  method: 'GET',
  path: '/api/files/variant/{variantId}',
  tag,
  summary: 'The bytes of one variant',
  auth: 'optional',
  scope: 'read:files',
  guests: true,
  queryToken: true,
  params: Type.Object({ variantId: VariantIdParam }),
  query: Type.Object({ download: Type.Optional(Type.String({ description: '`1` forces an attachment' })) }),
  headers: conditions,
  reply: { kind: 'bytes', status: 200, redirects: true },
  errors: ['E-FILE-NOTFOUND', 'E-RANGE', 'E-UNAVAILABLE'],
})

export const getFileDescriptor = contract({
  name: 'getFileDescriptor',
  method: 'GET',
  path: '/api/files/{fileId}/descriptor',
  tag,
  summary: 'What a file is made of: its variants, and what its id commits to',
  auth: 'optional',
  scope: 'read:files',
  guests: true,
  params: Type.Object({ fileId: FileIdParam }),
  reply: { kind: 'data', status: 200, schema: FileDescriptor },
  errors: ['E-FILE-NOTFOUND'],
})

export const getFileMetadata = contract({
  name: 'getFileMetadata',
  method: 'GET',
  path: '/api/files/{fileId}/metadata',
  tag,
  summary: 'A file without its variants',
  auth: 'optional',
  scope: 'read:files',
  guests: true,
  params: Type.Object({ fileId: FileIdParam }),
  reply: { kind: 'data', status: 200, schema: FileView },
  errors: ['E-FILE-NOTFOUND'],
})

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
  scope: 'read:files',
  reply: { kind: 'data', status: 200, schema: Usage },
  errors: [],
})

export const fileContracts = [
  uploadFile,
  downloadFile,
  downloadVariant,
  getFileDescriptor,
  getFileMetadata,
  getUsage,
]
