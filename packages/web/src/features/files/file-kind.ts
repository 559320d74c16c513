import type { FileView } from '@kith/protocol'
import type { IconName } from '#ui/icon-names.ts'

type Kind = 'folder' | 'document' | 'database' | 'picture' | 'film' | 'sound' | 'file'

/** What a file is, for people; also the name of its text. */
export function kindOf({ fileTp, contentType }: Pick<FileView, 'fileTp' | 'contentType'>): Kind {
  if (fileTp === 'FLDR') return 'folder'
  if (fileTp === 'CRDT') return 'document'
  if (fileTp === 'RTDB') return 'database'
  if (contentType.startsWith('image/')) return 'picture'
  if (contentType.startsWith('video/')) return 'film'
  return contentType.startsWith('audio/') ? 'sound' : 'file'
}

export const iconOf: Readonly<Record<Kind, IconName>> = {
  folder: 'folder',
  document: 'file-text',
  database: 'list',
  picture: 'image',
  film: 'film',
  sound: 'music',
  file: 'file',
}

/** Whether there are variants to show: what could not be processed is saved, not shown. */
export function isPicture(file: FileView): boolean {
  return kindOf(file) === 'picture' && !file.contentType.includes('svg') && !file.x?.processingError
}
