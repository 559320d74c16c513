import {
  type FileId,
  type IdTag,
  type SharePermission,
  type ShareSubject,
  sharePermissions,
} from '@kith/protocol'
import type { FileLevel } from '#features/files/index.ts'

/** A right on a file, and on everything in it when it is a folder, that somebody has given. */
export interface Share {
  readonly shareId: number
  readonly fileId: FileId
  readonly subjectType: ShareSubject
  /** An identity, the label of a link, or a file. */
  readonly subjectId: string
  readonly permission: SharePermission
  /** Unix seconds; undefined: never. */
  readonly expiresAt: number | undefined
  readonly createdBy: IdTag
  readonly createdAt: number
  /** Whoever gave it had it by a share: it ends when that right does. */
  readonly isDerived: boolean
  /** Of links: which reference it is. */
  readonly refHash: string | undefined
}

/** What a permission lets do with a file. */
export function levelOf(permission: SharePermission): FileLevel {
  return (sharePermissions.indexOf(permission) + 1) as FileLevel
}

/** What an FSHR action calls it (SPEC "Content schemas"). */
export function federatedPermission(permission: SharePermission): 'READ' | 'WRITE' {
  return permission === 'R' ? 'READ' : 'WRITE'
}
