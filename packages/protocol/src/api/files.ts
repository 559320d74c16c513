import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { fileTypes, variantNames } from '../ids.ts'
import {
  CommaList,
  FileIdParam,
  IsoTime,
  Nullable,
  UnixTime,
  VariantIdParam,
  Words,
  WorldTimeInput,
} from '../schemas.ts'
import { Visibility } from './action-shapes.ts'
import { pictureMembers } from './picture-shapes.ts'
import { getUsage, getUsageByKind } from './storage-usage.ts'

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
  ...pictureMembers,
  takenAt: Type.Optional(
    Type.Integer({
      description:
        'When the picture was taken, Unix seconds (negative before 1970), by its EXIF data: in the time zone that the camera noted, else in UTC',
    }),
  ),
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
      width: Type.Optional(Type.Integer()),
      height: Type.Optional(Type.Integer()),
      size: Type.Integer({ description: 'Bytes' }),
      format: Type.String(),
    }),
    {
      description:
        'What there is to ask for as `variant`: `orig`, where it is kept, and the variants of a picture. Without width and height where they are not known',
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
  gateway: true,
  scope: 'write:files',
  guests: true,
  params: Type.Object({
    preset: Words(uploadPresets, { description: 'What is made of the bytes' }),
    fileName: Type.String({ minLength: 1, maxLength: 1024, description: 'The name of the new file' }),
  }),
  query: Type.Object({
    createdAt: Type.Optional(WorldTimeInput),
    tags: Type.Optional(CommaList()),
    parentId: Type.Optional(Type.String({ description: 'The folder to put it into' })),
    visibility: Type.Optional(
      Words(['P', 'V', 'F', 'C'], { description: 'Who may read it; the owner alone when absent' }),
    ),
    replaces: Type.Optional(
      Type.String({
        description:
          'A file whose place this one takes, with its folder, tags and visibility; that one goes to the trash',
      }),
    ),
  }),
  queryAliases: { created_at: 'createdAt' },
  body: { kind: 'bytes', isJsonInvalid: true },
  reply: { kind: 'data', status: 201, schema: CreatedFile },
  errors: ['E-TOOLARGE', 'E-QUOTA', 'E-FILE-NOTFOUND', 'E-STATE', 'E-UNAVAILABLE'],
})

/** The headers with which an answer is asked for only where it is, or is not, what the client has (RFC 9110, 13.1). */
export const preconditions = {
  'if-match': Type.Optional(Type.String({ description: 'The `ETag` that is expected; 412 for another' })),
  'if-none-match': Type.Optional(
    Type.String({ description: 'The `ETag` that the client has; 304 when it is current' }),
  ),
  'if-modified-since': Type.Optional(
    Type.String({ description: '304 when it did not change since; counts without `If-None-Match`' }),
  ),
  'if-unmodified-since': Type.Optional(
    Type.String({ description: '412 when it changed since; counts without `If-Match`' }),
  ),
}

/** The same, and those with which a part of the bytes is asked for. */
export const byteConditions = {
  ...preconditions,
  range: Type.Optional(Type.String({ description: 'One range of bytes, of GET alone (RFC 9110, 14.2)' })),
  'if-range': Type.Optional(Type.String({ description: 'The `ETag` for which `Range` counts' })),
}
// The last two are a browser's: they tell a script, which could not follow a redirect, from an `<img>`.
const conditions = Type.Object({
  ...byteConditions,
  origin: Type.Optional(Type.String({ description: 'Set by browsers; such a request is not redirected' })),
  'sec-fetch-mode': Type.Optional(Type.String({ description: 'Set by browsers; `cors` is not redirected' })),
})

export const downloadFile = contract({
  name: 'downloadFile',
  method: 'GET',
  path: '/api/files/{fileId}',
  tag,
  summary: 'The bytes of a file, or of one of its variants',
  auth: 'optional',
  gateway: true,
  scope: 'read:files',
  guests: true,
  queryToken: true,
  params: Type.Object({ fileId: FileIdParam }),
  query: Type.Object({
    variant: Type.Optional(Words(variantNames, { description: 'A variant instead of the file itself' })),
    download: Type.Optional(Type.String({ description: '`1` forces an attachment' })),
  }),
  headers: conditions,
  reply: { kind: 'bytes', status: 200, redirects: true },
  errors: ['E-FILE-NOTFOUND', 'E-PRECONDITION', 'E-RANGE', 'E-UNAVAILABLE'],
})

export const downloadVariant = contract({
  name: 'downloadVariant',
  method: 'GET',
  path: '/api/files/variant/{variantId}',
  tag,
  summary: 'The bytes of one variant',
  auth: 'optional',
  gateway: true,
  scope: 'read:files',
  guests: true,
  queryToken: true,
  params: Type.Object({ variantId: VariantIdParam }),
  query: Type.Object({ download: Type.Optional(Type.String({ description: '`1` forces an attachment' })) }),
  headers: conditions,
  reply: { kind: 'bytes', status: 200, redirects: true },
  errors: ['E-FILE-NOTFOUND', 'E-PRECONDITION', 'E-RANGE', 'E-UNAVAILABLE'],
})

export const downloadFolder = contract({
  name: 'downloadFolder',
  method: 'GET',
  path: '/api/files/{fileId}/zip',
  tag,
  summary: 'A folder, with all in it that the caller may read, as a zip archive',
  auth: 'optional',
  gateway: true,
  scope: 'read:files',
  guests: true,
  queryToken: true,
  params: Type.Object({ fileId: FileIdParam }),
  reply: { kind: 'bytes', status: 200 },
  errors: ['E-FILE-NOTFOUND', 'E-STATE', 'E-TOOLARGE', 'E-UNAVAILABLE'],
})

/** So many files are named at most in one address. */
export const maxSelectedFiles = 100

export const downloadFiles = contract({
  name: 'downloadFiles',
  method: 'GET',
  path: '/api/files/zip',
  tag,
  summary: 'Some files, folders with all in them that the caller may read, as one zip archive',
  auth: 'optional',
  gateway: true,
  scope: 'read:files',
  guests: true,
  queryToken: true,
  query: Type.Object({
    ids: { ...CommaList(), description: `Comma list of 1 to ${maxSelectedFiles} files and folders` },
  }),
  reply: { kind: 'bytes', status: 200 },
  errors: ['E-FILE-NOTFOUND', 'E-STATE', 'E-TOOLARGE', 'E-UNAVAILABLE'],
})

export const getFileDescriptor = contract({
  name: 'getFileDescriptor',
  method: 'GET',
  path: '/api/files/{fileId}/descriptor',
  tag,
  summary: 'What a file is made of: its variants, and what its id commits to',
  auth: 'optional',
  gateway: true,
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
  gateway: true,
  scope: 'read:files',
  guests: true,
  params: Type.Object({ fileId: FileIdParam }),
  reply: { kind: 'data', status: 200, schema: FileView },
  errors: ['E-FILE-NOTFOUND'],
})

export const fileContracts = [
  uploadFile,
  downloadFile,
  downloadVariant,
  downloadFolder,
  downloadFiles,
  getFileDescriptor,
  getFileMetadata,
  getUsage,
  getUsageByKind,
]
