import type { FileId, IdTag } from '@kith/protocol'
import { findAccessibleFile, findViewerNamed, writeLevel } from '#features/files/index.ts'
import { dropReference, findReferenceByHash } from '#features/references/index.ts'
import type { RevokeDeps } from '#features/sessions/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { levelOf, type Share } from './share.ts'
import { withdrawShareJob } from './share-jobs.ts'
import { deleteShares, listDerived, listSharesOfFiles } from './share-store.ts'

export interface EndDeps extends RevokeDeps {
  readonly vault: Vault
  readonly jobs: Pick<Jobs, 'enqueueAll'>
}

/** Takes shares away, with the links that they are; nobody is told. */
export async function removeShares(deps: EndDeps, tx: Writer, shares: readonly Share[]): Promise<void> {
  for (const { refHash } of shares) {
    const reference = refHash === undefined ? undefined : await findReferenceByHash(deps.vault, tx, refHash)
    if (reference) await dropReference(deps, tx, reference.refId)
  }
  await deleteShares(
    tx,
    shares.map(({ shareId }) => shareId),
  )
}

/** The same, and tells the identities they were for. */
export async function endShares(deps: EndDeps, tx: Writer, shares: readonly Share[]): Promise<void> {
  await removeShares(deps, tx, shares)
  const people = shares.filter(({ subjectType }) => subjectType === 'U')
  await deps.jobs.enqueueAll(
    tx,
    withdrawShareJob,
    people.map(({ fileId, subjectId }) => ({ payload: { fileId, audienceTag: subjectId as IdTag } })),
  )
}

/** Ends what was given on by those who can no longer give it: one after the other, for what ends may have carried the
 * next. Answers how many have ended. */
export async function endUnfounded(deps: EndDeps, tx: Writer, tenant: Tenant): Promise<number> {
  const now = nowSecs(deps.clock)
  let ended = 0
  while (true) {
    const unfounded: Share[] = []
    for (const share of await listDerived(tx))
      if (!(await isFounded(tx, tenant, share, now))) unfounded.push(share)
    if (unfounded.length === 0) return ended
    await endShares(deps, tx, unfounded)
    ended += unfounded.length
  }
}

async function isFounded(tx: Writer, tenant: Tenant, share: Share, now: number): Promise<boolean> {
  const maker = await findViewerNamed(tx, tenant, share.createdBy)
  const found = await findAccessibleFile(tx, maker, { fileId: share.fileId, now })
  return found !== undefined && found.level >= Math.max(writeLevel, levelOf(share.permission))
}

/** What happens to the shares of files that are about to go for ever. */
export async function endSharesOfFiles(deps: EndDeps, tx: Writer, fileIds: readonly FileId[]): Promise<void> {
  await endShares(deps, tx, await listSharesOfFiles(tx, fileIds))
}
