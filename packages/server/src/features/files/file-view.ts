import {
  type CreatedFile,
  type FileDescriptor,
  type FileUserData,
  type FileView,
  toIso,
} from '@kith/protocol'
import type { Discarder, NewFile, StoredFile, StoredVariant } from './file.ts'
import type { UserData } from './file-list-store.ts'

/** A file as its creation answers it. */
export function createdFileView(file: NewFile): CreatedFile {
  const { fileId, status, fileTp, contentType, fileName, tags, createdAt } = file
  return { fileId, status, fileTp, contentType, fileName, tags: [...tags], createdAt }
}

/** A file as lists and metadata show it. */
export function fileView(file: StoredFile, ownerName: string, userData?: UserData): FileView {
  return {
    fileId: file.fileId,
    status: file.status,
    fileTp: file.fileTp,
    contentType: file.contentType,
    fileName: file.fileName,
    tags: [...file.tags],
    parentId: file.parentId ?? null,
    size: file.size,
    visibility: file.visibility,
    owner: { idTag: file.ownerTag, name: ownerName },
    createdAt: toIso(file.createdAt),
    ...(userData && { userData: userDataView(userData) }),
    ...(file.deletedAt !== undefined && {
      deletedAt: toIso(file.deletedAt),
      originalParentId: file.originalParentId ?? file.parentId ?? null,
    }),
    ...extrasOf(file),
  }
}

function extrasOf({ processingError, isCopy, ownerTag, discarded }: StoredFile): Pick<FileView, 'x'> {
  if (processingError === undefined && !isCopy && !discarded) return {}
  return {
    x: {
      ...(processingError === undefined ? {} : { processingError }),
      ...(isCopy ? { home: ownerTag } : {}),
      ...(discarded && { deletedBy: deletedByView(discarded) }),
    },
  }
}

function deletedByView({ by, isByLink }: Discarder) {
  if (by === undefined) return {}
  return isByLink ? { linkOf: by } : { idTag: by }
}

export function userDataView({ isPinned, isStarred, accessedAt }: UserData): FileUserData {
  return {
    pinned: isPinned,
    starred: isStarred,
    ...(accessedAt === undefined ? {} : { accessedAt: toIso(accessedAt) }),
  }
}

export function descriptorView(file: StoredFile, variants: readonly StoredVariant[]): FileDescriptor {
  return {
    fileId: file.fileId,
    contentType: file.contentType,
    fileName: file.fileName,
    size: file.size,
    createdAt: toIso(file.createdAt),
    variants: variants.map(({ variant, width, height, size, format }) => ({
      id: variant,
      width,
      height,
      size,
      format,
    })),
    ...(file.content && {
      sha256: Buffer.from(file.content.hash, 'hex').toString('base64url'),
      salt: file.content.salt,
    }),
  }
}
