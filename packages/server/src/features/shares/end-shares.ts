import type { FileId, IdTag } from '@kith/protocol'
import {
  type FileObserver,
  type FileViewer,
  findAccessibleFile,
  findViewerNamed,
} from '#features/files/index.ts'
import { dropReference, findReferenceByHash } from '#features/references/index.ts'
import type { RevokeDeps } from '#features/sessions/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { neededFor, type Share } from './share.ts'
import { withdrawShareJob } from './share-jobs.ts'
import { deleteShares, listSharesOfFiles, reinstate, setDerivedAside } from './share-store.ts'

export interface EndDeps extends RevokeDeps, FileObserver {
  readonly vault: Vault
  readonly jobs: Pick<Jobs, 'enqueueAll'>
}

/** Tells the identity that a share is for, where it has clients here. */
export async function tellOfShare(
  { onFile }: FileObserver,
  tx: Writer,
  { fileId, subjectType, subjectId }: Share,
  event: 'shared' | 'unshared',
): Promise<void> {
  if (subjectType === 'U') await onFile?.(tx, { fileId, event, to: [subjectId as IdTag] })
}

/** Takes shares away, with the links that they are; no other server is told. */
export async function removeShares(deps: EndDeps, tx: Writer, shares: readonly Share[]): Promise<void> {
  for (const { refHash } of shares) {
    const reference = refHash === undefined ? undefined : await findReferenceByHash(deps.vault, tx, refHash)
    if (reference) await dropReference(deps, tx, reference.refId)
  }
  for (const share of shares) await tellOfShare(deps, tx, share, 'unshared')
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

/** Ends what was given on by those who can no longer give it, and answers how much. A share is founded when its maker
 * has the right by what is founded already, from the owner outwards: two that found only each other end both. */
export async function endUnfounded(deps: EndDeps, tx: Writer, tenant: Tenant): Promise<number> {
  const now = nowSecs(deps.clock)
  const makers = new Map<IdTag, FileViewer>()
  let waiting = await setDerivedAside(tx)
  for (let reinstated = waiting.length; reinstated > 0; ) {
    const founded = new Set<Share>()
    for (const share of waiting) {
      const maker = makers.get(share.createdBy) ?? (await findViewerNamed(tx, tenant, share.createdBy))
      makers.set(share.createdBy, maker)
      if (await mayGive(tx, maker, share, now)) founded.add(share)
    }
    await reinstate(tx, [...founded])
    waiting = waiting.filter((share) => !founded.has(share))
    reinstated = founded.size
  }
  await endShares(deps, tx, waiting)
  return waiting.length
}

async function mayGive(tx: Writer, maker: FileViewer, share: Share, now: number): Promise<boolean> {
  const found = await findAccessibleFile(tx, maker, { fileId: share.fileId, now })
  return found !== undefined && found.level >= neededFor(share.permission)
}

/** What happens to the shares of files that are about to go for ever. */
export async function endSharesOfFiles(deps: EndDeps, tx: Writer, fileIds: readonly FileId[]): Promise<void> {
  await endShares(deps, tx, await listSharesOfFiles(tx, fileIds))
}
