import { type FileSnapshot, toIso } from '@kith/protocol'
import type { ContentSnapshot } from './file-contents.ts'

/** A snapshot as lists show it. */
export function snapshotView({ seq, createdAt, size, writers }: ContentSnapshot): FileSnapshot {
  return { seq, createdAt: toIso(createdAt), size, writers: [...writers] }
}
