import { type FileId, fileTypeOf } from '@kith/protocol'
import Type, { type Static } from 'typebox'
import type { Database, Writer } from '#infra/db/index.ts'
import { type JobContext, type Jobs, jobKind } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'
import { listKnown } from '../file-store.ts'
import type { ContentsByType, LiveFileType } from './file-contents.ts'

/** Removes the content of documents or databases that are gone. */
export const removeContentsJob = jobKind({
  name: 'files.remove-contents',
  payload: Type.Object({
    fileTp: Type.Union([Type.Literal('CRDT'), Type.Literal('RTDB')]),
    fileIds: Type.Array(Type.String()),
    /** Copies under way: those that have become files by then stay. */
    areCopies: Type.Optional(Type.Boolean()),
  }),
  // About a day: it is nothing but database calls.
  retry: { maxAttempts: 32, firstDelayMs: 5_000, longestDelayMs: 3_600_000 },
  concurrency: 1,
  group: 'by tenant',
})

// A row may have a mebibyte.
const rowsPerPortion = 100
// Sockets that have the file open are ended within seconds; what they still write goes too.
const lingerMs = 60_000
// No copy takes so long.
const longestCopyMs = 86_400_000

/** Lets the content of those of the files that have any go after a while. */
export async function queueRemoval(
  { jobs, clock }: { readonly jobs: Pick<Jobs, 'enqueueAll'>; readonly clock: Pick<Clock, 'now'> },
  tx: Writer,
  fileIds: readonly FileId[],
): Promise<void> {
  const kinds: readonly LiveFileType[] = ['CRDT', 'RTDB']
  const removals = kinds
    .map((fileTp) => ({ fileTp, fileIds: fileIds.filter((fileId) => fileTypeOf(fileId) === fileTp) }))
    .filter((removal) => removal.fileIds.length > 0)
  const options = { runAtMs: clock.now() + lingerMs }
  await jobs.enqueueAll(
    tx,
    removeContentsJob,
    removals.map((payload) => ({ payload, options })),
  )
}

/** Lets the content of a copy go a day later, unless it has become a file. */
export async function queueRemovalOfCopy(
  { jobs, clock }: { readonly jobs: Pick<Jobs, 'enqueueAll'>; readonly clock: Pick<Clock, 'now'> },
  tx: Writer,
  { fileTp, fileId }: { readonly fileTp: LiveFileType; readonly fileId: FileId },
): Promise<void> {
  const payload = { fileTp, fileIds: [fileId], areCopies: true }
  await jobs.enqueueAll(tx, removeContentsJob, [
    { payload, options: { runAtMs: clock.now() + longestCopyMs } },
  ])
}

/** In portions, between which others write. */
export async function removeContents(
  { db, contents }: { readonly db: Database; readonly contents: ContentsByType },
  { fileTp, fileIds: asked, areCopies = false }: Static<(typeof removeContentsJob)['payload']>,
  { tenantId, signal }: JobContext,
): Promise<void> {
  const known = areCopies ? await listKnown(db.reader(tenantId), asked as FileId[]) : []
  const fileIds = asked.filter((fileId) => !known.includes(fileId as FileId))
  const portion = (tx: Writer) => contents[fileTp].remove(tx, fileIds as FileId[], rowsPerPortion)
  while (!(await db.transact(tenantId, portion, { isBackground: true }))) signal.throwIfAborted()
}
