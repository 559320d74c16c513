import type { FileContents } from '#features/files/index.ts'
import type { Database } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { copyDocument, removeDocuments } from './document-copies-store.ts'
import { findDocument, joined } from './document-log-store.ts'
import type { Documents } from './open-documents.ts'
import { findNewestSnapshot, hasSnapshot, listSnapshots, readSnapshot } from './snapshot-store.ts'

interface ContentsDeps {
  readonly db: Database
  readonly documents: Documents
}

/** Documents, as files know them. */
export function documentContents({ db, documents }: ContentsDeps): FileContents {
  return {
    mediaType: 'application/x-crdt',

    async *present(tenantId, fileId) {
      const reader = db.reader(tenantId)
      const stored = await findDocument(reader, fileId)
      // Nobody has opened it yet.
      if (!stored) return
      const newest = await findNewestSnapshot(reader, fileId)
      if (newest === stored.lastSeq) {
        yield* readSnapshot(reader, fileId, newest)
        return
      }
      // The state in one piece would stay in memory as long as a slow reader takes.
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
      const pieces = await Array.fromAsync(past)
      return await documents.use(tenantId, fileId, async (session) => {
        await session.catchUp()
        const change = await session.ask({ kind: 'restore', past: joined(pieces).slice() })
        if (change && !(await session.write(by, change))) throw new Failure('E-QUOTA')
        return session.seq
      })
    },

    copy: copyDocument,
    remove: removeDocuments,
  }
}
