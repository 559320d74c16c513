import { Failure } from '#lib/failure.ts'
import type { FileContents } from './file-contents.ts'

/** What keeps nothing: files of its type are empty, and have no history. */
export function noContents(mediaType: string): FileContents {
  return {
    mediaType,
    async *present() {},
    listSnapshots: async () => [],
    snapshot: async () => undefined,
    async restore() {
      throw new Failure('E-NOTFOUND')
    },
    copy: async () => 0,
    remove: async () => true,
  }
}
