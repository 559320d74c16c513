import {
  type AttachedFile,
  type CreatedFile,
  type FileDescriptor,
  type FileUserData,
  type FileView,
  toIso,
} from '@kith/protocol'
import type { UserData } from './collections/collection-store.ts'
import type { Discarder, NewFile, StoredFile, StoredVariant } from './file.ts'

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
    ...pictureView(file),
    ...(userData && { userData: userDataView(userData) }),
    ...(file.deletedAt !== undefined && {
      deletedAt: toIso(file.deletedAt),
      originalParentId: file.originalParentId ?? file.parentId ?? null,
    }),
    ...extrasOf(file),
  }
}

/** A file as the action shows it that it is attached to. */
export function attachedFileView(file: StoredFile): AttachedFile {
  const { fileId, contentType, fileName, size } = file
  return { fileId, contentType, fileName, size, ...sizeView(file) }
}

function pictureView(file: StoredFile): Pick<FileView, 'width' | 'height' | 'thumbhash' | 'takenAt'> {
  const takenAt = file.picture?.takenAt
  return { ...sizeView(file), ...(takenAt === undefined ? {} : { takenAt }) }
}

function sizeView({ picture }: StoredFile): Pick<FileView, 'width' | 'height' | 'thumbhash'> {
  if (!picture) return {}
  const { width, height, thumbhash } = picture
  return { width, height, ...(thumbhash === undefined ? {} : { thumbhash }) }
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

export function descriptorView(
  file: StoredFile,
  known: readonly StoredVariant[],
  { isOriginalShown }: { readonly isOriginalShown: boolean },
): FileDescriptor {
  const variants = known.filter(({ variant }) => isOriginalShown || variant !== 'orig')
  return {
    fileId: file.fileId,
    contentType: file.contentType,
    fileName: file.fileName,
    size: file.size,
    createdAt: toIso(file.createdAt),
    variants: [
      ...variants.map(({ variant, width, height, size, format }) => ({
        id: variant,
        width,
        height,
        size,
        format,
      })),
      ...(isOriginalShown ? originalOf(file, variants) : []),
    ],
    ...(file.content && {
      sha256: Buffer.from(file.content.hash, 'hex').toString('base64url'),
      salt: file.content.salt,
    }),
  }
}

/** The original of which nothing is known but its bytes: no picture, one that is not processed, or not yet. */
function originalOf(
  { content, preset, size, contentType }: StoredFile,
  variants: readonly StoredVariant[],
): FileDescriptor['variants'] {
  const isKept = content !== undefined && preset !== 'thumbnail-only'
  if (!isKept || variants.some(({ variant }) => variant === 'orig')) return []
  return [{ id: 'orig', size, format: contentType.replace(/^[^/]*\/|;.*$/g, '') }]
}
