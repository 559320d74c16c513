import { createHash, randomBytes } from 'node:crypto'
import {
  type FileId,
  type FileStatus,
  type FileType,
  fileIdOf,
  type IdTag,
  parseFileName,
  parseTag,
  type UploadPreset,
  type VariantName,
  type Visibility,
} from '@kith/protocol'
import type { BlobHash } from '#infra/blobs/index.ts'
import { invalid } from '#lib/failure.ts'

/** What the id of a BLOB commits to. */
export interface Commitment {
  readonly hash: BlobHash
  /** 16 bytes, base64url. */
  readonly salt: string
}

/** A file of a tenant: its own, or a checked copy of another server's. */
export interface StoredFile extends NewFile {
  /** While it is in the trash, Unix seconds. */
  readonly deletedAt: number | undefined
  /** Where it was before. */
  readonly originalParentId: FileId | undefined
  /** Who deleted it for good without owning it. */
  readonly discarded?: Discarder | undefined
}

/** An identity, or whoever held a link that it made. The link is not named: its id is a credential. */
export interface Discarder {
  readonly by: IdTag | undefined
  readonly isByLink: boolean
}

/** A file as it is made. */
export interface NewFile {
  readonly fileId: FileId
  readonly fileTp: FileType
  readonly status: FileStatus
  /** Whose file it is; the issuer of the action it came with, for copies. */
  readonly ownerTag: IdTag
  /** Fetched from its owner's server: here nobody owns it. */
  readonly isCopy: boolean
  readonly preset: UploadPreset
  readonly fileName: string
  readonly contentType: string
  readonly size: number
  /** The bytes that a BLOB is: the upload, or what its preset made of it. Undefined for other types. */
  readonly content: Commitment | undefined
  readonly parentId: FileId | undefined
  readonly visibility: Visibility
  readonly tags: readonly string[]
  readonly processingError: string | undefined
  readonly picture?: PictureDetails | undefined
  /** Unix seconds. */
  readonly createdAt: number
  readonly modifiedAt: number
  /** Of a copy: when it is shared no longer, Unix seconds. */
  readonly expiresAt?: number | undefined
  /** Whether all of its bytes are text in UTF-8. Undefined without bytes, and of bytes that came before this was asked. */
  readonly isUtf8?: boolean | undefined
  /** The narrowed credential with which it was made. */
  readonly madeWith?: string | undefined
}

/** What is known of a picture that was read. */
export interface PictureDetails {
  /** Upright, in pixels. */
  readonly width: number
  readonly height: number
  /** When it was taken, Unix seconds. */
  readonly takenAt?: number | undefined
  /** Base64. Pictures that were read before there were any have none. */
  readonly thumbhash?: string | undefined
}

/** One picture made from a file, or the original with its size in pixels. */
export interface StoredVariant {
  readonly variant: VariantName
  readonly blobHash: BlobHash
  readonly width: number
  readonly height: number
  readonly size: number
  /** `webp`, `jpeg`, … */
  readonly format: string
}

/** The id of a file with this content: a hash over a salt and the content's hash (docs/protocol/conventions.md), so that it
 * commits to the bytes without being given away by them. */
export function blobFileId({ hash, salt }: Commitment): FileId {
  const committed = createHash('sha256')
    .update('blob')
    .update(Buffer.from(salt, 'base64url'))
    .update(Buffer.from(hash, 'hex'))
  return fileIdOf('BLOB', committed.digest('base64url'))
}

/** A fresh id for content with this hash. */
export function commitTo(hash: BlobHash): { readonly fileId: FileId; readonly content: Commitment } {
  const content = { hash, salt: randomBytes(16).toString('base64url') }
  return { fileId: blobFileId(content), content }
}

export function acceptFileName(text: string, path: string): string {
  const name = parseFileName(text)
  if (name === undefined)
    throw invalid(path, '1 to 255 visible characters, no slashes, no marks of direction')
  return name
}

const maxTags = 50

/** 1–64 characters, at least one of them visible, no comma; each once, in the order given. */
export function normalTags(tags: readonly string[], path: string): string[] {
  const parsed = tags.map(parseFileTag)
  if (parsed.includes(undefined)) throw invalid(path, 'a tag has 1 to 64 characters that are seen, no comma')
  const distinct = distinctTags(parsed)
  if (distinct.length > maxTags) throw invalid(path, `a file has at most ${maxTags} tags`)
  return distinct
}

/** Tags of a row that was written elsewhere or before, as they are spelt here; what is none is left out. */
export function respeltTags(tags: unknown): string[] {
  const texts = (Array.isArray(tags) ? tags : []).filter((tag) => typeof tag === 'string')
  return distinctTags(texts.map(parseFileTag)).slice(0, maxTags)
}

function parseFileTag(text: string): string | undefined {
  return text.includes(',') ? undefined : parseTag(text)
}

function distinctTags(tags: readonly (string | undefined)[]): string[] {
  return [...new Set(tags.filter((tag) => tag !== undefined))]
}

/** Image types of which variants are made (docs/protocol/file-life.md, Presets). */
export const processedTypes: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/avif',
  'image/gif',
  'image/tiff',
  'image/heic',
  'image/heif',
])

export function hasVariants(contentType: string): boolean {
  return processedTypes.has(contentType)
}
