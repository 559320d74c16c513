import type { FileId, IdTag } from '@kith/protocol'
import {
  type AccountEvent,
  dropReference,
  findReferenceByHash,
  type RevokeDeps,
} from '#features/accounts/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import type { FileEmitter, FileEvent } from '../events.ts'
import { doubtWhatRestsOn } from './doubted-shares-store.ts'
import type { Share } from './share.ts'
import { reviewSharesJob, withdrawShareJob } from './share-jobs.ts'
import { deleteShares, listSharesOfFiles } from './share-store.ts'

export interface EndDeps extends RevokeDeps, FileEmitter {
  readonly emit: Emit<AccountEvent | FileEvent>
  readonly vault: Vault
  readonly jobs: Pick<Jobs, 'enqueue' | 'enqueueAll'>
}

/** Tells the identity that a share is for, where it has clients here. */
export async function tellOfShare(
  { emit }: FileEmitter,
  tx: Writer,
  { fileId, subjectType, subjectId }: Share,
  kind: 'file.shared' | 'file.unshared',
): Promise<void> {
  if (subjectType === 'U') await emit(tx, { kind, fileId, to: [subjectId as IdTag] })
}

/** Takes shares away, with the links that they are; no other server is told. What rests on them counts for nothing from
 * now on: answers how many those are, which are to be reviewed. */
export async function removeShares(deps: EndDeps, tx: Writer, shares: readonly Share[]): Promise<number> {
  const shareIds = shares.map(({ shareId }) => shareId)
  const doubted = await doubtWhatRestsOn(tx, shareIds)
  for (const { refHash } of shares) {
    const reference = refHash === undefined ? undefined : await findReferenceByHash(deps.vault, tx, refHash)
    if (reference) await dropReference(deps, tx, reference.refId)
  }
  for (const share of shares) await tellOfShare(deps, tx, share, 'file.unshared')
  await deleteShares(tx, shareIds)
  return doubted
}

/** The same, and tells the identities they were for; a job reviews what rested on them. */
export async function endShares(deps: EndDeps, tx: Writer, shares: readonly Share[]): Promise<void> {
  if ((await removeShares(deps, tx, shares)) > 0) await queueReview(deps, tx)
  const people = shares.filter(({ subjectType }) => subjectType === 'U')
  await deps.jobs.enqueueAll(
    tx,
    withdrawShareJob,
    people.map(({ fileId, subjectId }) => ({ payload: { fileId, audienceTag: subjectId as IdTag } })),
  )
}

/** Has the shares of a tenant reviewed that are in doubt, after the transaction. */
export async function queueReview({ jobs }: Pick<EndDeps, 'jobs'>, tx: Writer): Promise<void> {
  await jobs.enqueue(tx, reviewSharesJob, {}, { dedupKey: 'review' })
}

/** What happens to the shares of files that are about to go for ever. */
export async function endSharesOfFiles(deps: EndDeps, tx: Writer, fileIds: readonly FileId[]): Promise<void> {
  await endShares(deps, tx, await listSharesOfFiles(tx, fileIds))
}
