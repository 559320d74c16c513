import type { FileContents } from '#features/files/index.ts'
import type { Database } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { findNewestSnapshot, hasSnapshot, listSnapshots, readSnapshot } from './history/snapshot-store.ts'
import { copyDocument, removeDocuments } from './log/document-copies-store.ts'
import { findDocument, joined } from './log/document-log-store.ts'
import { CannotOpen } from './session/loaded-document.ts'
import type { Documents } from './session/open-documents.ts'
import { RequestFailed, ThreadDied } from './threads/document-thread.ts'

interface ContentsDeps {
  readonly db: Database
  readonly documents: Documents
}

// Errors after which a former state replaces the whole document, since it cannot be restored as a change.
const unreadable = [CannotOpen, ThreadDied, RequestFailed]

/** The contents of documents, for the files room. */
export function documentContents({ db, documents }: ContentsDeps): FileContents {
  return {
    mediaType: 'application/x-crdt',

    async *present(tenantId, fileId) {
      const reader = db.reader(tenantId)
      const stored = await findDocument(reader, fileId)
      if (!stored) return
      const newest = await findNewestSnapshot(reader, fileId)
      if (newest === stored.lastSeq) {
        yield* readSnapshot(reader, fileId, newest)
        return
      }
      // A compaction stores the state in parts: in one piece it would stay in memory as long as a slow reader takes.
      await documents.use(tenantId, fileId, async (session) => {
        await session.catchUp()
        await session.compact()
      })
      const compacted = await findNewestSnapshot(reader, fileId)
      if (compacted !== undefined) yield* readSnapshot(reader, fileId, compacted)
    },

    listSnapshots,

    async snapshot(tenantId, fileId, seq) {
      const reader = db.reader(tenantId)
      return (await hasSnapshot(reader, fileId, seq)) ? readSnapshot(reader, fileId, seq) : undefined
    },

    async restore({ tenantId, fileId, seq, by }) {
      const past = await this.snapshot(tenantId, fileId, seq)
      if (!past) throw new Failure('E-NOTFOUND')
      const state = joined(await Array.fromAsync(past)).slice()
      try {
        return await documents.use(tenantId, fileId, async (session) => {
          await session.catchUp()
          const change = await session.ask({ kind: 'restore', past: state })
          if (change && !(await session.write(by, change))) throw new Failure('E-QUOTA')
          return session.seq
        })
      } catch (error) {
        if (!unreadable.some((kind) => error instanceof kind)) throw error
        return await documents.replace({ tenantId, fileId }, state, by)
      }
    },

    copy: copyDocument,
    remove: removeDocuments,
  }
}
