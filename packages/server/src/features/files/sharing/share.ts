import {
  type FileId,
  type IdTag,
  type SharePermission,
  type ShareSubject,
  sharePermissions,
} from '@kith/protocol'
import { type FileLevel, writeLevel } from '../access/file-viewer.ts'

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
  /** What it rests on has changed, and it counts for nothing until that was reviewed. */
  readonly isInDoubt: boolean
  /** Of links: which reference it is. */
  readonly refHash: string | undefined
}

/** What a permission lets do with a file. */
export function levelOf(permission: SharePermission): FileLevel {
  return (sharePermissions.indexOf(permission) + 1) as FileLevel
}

/** What somebody must be able to do with a file to give this. */
export function neededFor(permission: SharePermission): FileLevel {
  return Math.max(writeLevel, levelOf(permission)) as FileLevel
}

/** Does it give no more than the other, and for no longer? */
export function isWithin(
  narrow: Pick<Share, 'permission' | 'expiresAt'>,
  wide: Pick<Share, 'permission' | 'expiresAt'>,
): boolean {
  const { expiresAt: narrowEnd = Number.POSITIVE_INFINITY } = narrow
  const { expiresAt: wideEnd = Number.POSITIVE_INFINITY } = wide
  return levelOf(narrow.permission) <= levelOf(wide.permission) && narrowEnd <= wideEnd
}

/** The first of two ends; undefined is never. */
export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

/** What an FSHR action calls it (docs/protocol/action-types.md). */
export function federatedPermission(permission: SharePermission): 'READ' | 'WRITE' {
  return permission === 'R' ? 'READ' : 'WRITE'
}
