import type { FileType, StorageKind } from '@kith/protocol'

export type { StorageKind }

/** The column of `storage_usage` that sums each kind. `others` has none: it is `used_bytes` less all of these. */
export const kindColumns = {
  pictures: 'picture_bytes',
  films: 'film_bytes',
  sounds: 'sound_bytes',
  documents: 'document_bytes',
  databases: 'database_bytes',
  previews: 'preview_bytes',
} as const satisfies Partial<Record<StorageKind, string>>

export const countedKinds = Object.keys(kindColumns) as (keyof typeof kindColumns)[]

const office = /^application\/(pdf|rtf|msword|epub\+zip|vnd\.(ms-|oasis\.opendocument|openxmlformats))/

/** The kind that people are shown for a blob of a media type. */
export function kindOfBytes(contentType: string): StorageKind {
  if (contentType.startsWith('image/')) return 'pictures'
  if (contentType.startsWith('video/')) return 'films'
  if (contentType.startsWith('audio/')) return 'sounds'
  return contentType.startsWith('text/') || office.test(contentType) ? 'documents' : 'others'
}

/** The kind of a document's or database's content, which is stored in rows and has no blob. */
export function kindOfContent(fileTp: FileType): StorageKind {
  return fileTp === 'RTDB' ? 'databases' : 'documents'
}
