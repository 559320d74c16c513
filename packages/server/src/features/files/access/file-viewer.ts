import type { FileId } from '@kith/protocol'
import type { Viewer } from '#features/relations/index.ts'

/** What somebody may do with a file: nothing, read, write, administer. */
export type FileLevel = 0 | 1 | 2 | 3

export const readLevel = 1
export const writeLevel = 2
export const adminLevel = 3

/** A level on one file, and on everything in it when it is a folder. */
export interface FileKey {
  readonly fileId: FileId
  readonly level: FileLevel
}

/** Who looks at the files of a tenant, and by what. */
export interface FileViewer {
  readonly viewer: Viewer
  /** What a reference gives to whoever holds it, by no other right. */
  readonly held: readonly FileKey[]
  /** How far a narrowed token goes; undefined: as far as its owner. */
  readonly limits: { readonly everywhere: FileLevel; readonly single: readonly FileKey[] } | undefined
}
