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
import type { Reader, Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { neededFor, type Share } from './share.ts'
import { withdrawShareJob } from './share-jobs.ts'
import {
  deleteShares,
  listGivenOn,
  listGivenOnBy,
  listSharesOfFiles,
  reinstate,
  setAside,
} from './share-store.ts'

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

/** What has ended or become less, by which somebody may have given on. */
type LostGrant = Pick<Share, 'subjectType' | 'subjectId'>

/** Ends what was given on by those who had it by a share that is less now or gone, and answers how much. */
export async function endGivenOn(
  deps: EndDeps,
  tx: Writer,
  tenant: Tenant,
  lost: LostGrant,
): Promise<number> {
  const { subjectType, subjectId } = lost
  const isForOne = subjectType === 'U'
  return await endUnfounded(
    deps,
    tx,
    tenant,
    isForOne ? await listGivenOnBy(tx, subjectId) : await listGivenOn(tx),
  )
}

/** Ends those of the suspects, and of what was given on by them, whose makers can give it no longer, and answers how
 * many. A share is founded when its maker has the right by what is founded already, from the owner outwards: two that
 * found only each other end both. */
export async function endUnfounded(
  deps: EndDeps,
  tx: Writer,
  tenant: Tenant,
  suspects: readonly Share[],
): Promise<number> {
  const now = nowSecs(deps.clock)
  const mayGive = rightsOfMakers(tx, tenant, now)
  const dependent: Share[] = []
  for (const share of await withGivenOn(tx, suspects))
    if (!(await mayGive(share, 'without what was given on'))) dependent.push(share)
  let waiting = await setAside(tx, dependent)
  for (let reinstated = waiting.length; reinstated > 0; ) {
    const founded = new Set<Share>()
    for (const share of waiting) if (await mayGive(share)) founded.add(share)
    await reinstate(tx, [...founded])
    waiting = waiting.filter((share) => !founded.has(share))
    reinstated = founded.size
  }
  await endShares(deps, tx, waiting)
  return waiting.length
}

/** Shares with everything that may rest on them: what those they are for have given on. */
async function withGivenOn(tx: Writer, suspects: readonly Share[]): Promise<Iterable<Share>> {
  const known = new Map<number, Share>()
  const makers = new Set<string>()
  for (let added = suspects; added.length > 0; ) {
    for (const share of added) known.set(share.shareId, share)
    // The readers of another file may be anybody.
    if (added.some(({ subjectType }) => subjectType === 'F')) return await listGivenOn(tx)
    const next = new Set(added.flatMap((share) => (share.subjectType === 'U' ? [share.subjectId] : [])))
    const found: Share[] = []
    for (const maker of next.difference(makers)) found.push(...(await listGivenOnBy(tx, maker)))
    for (const maker of next) makers.add(maker)
    added = found.filter(({ shareId }) => !known.has(shareId))
  }
  return known.values()
}

/** Whether the maker of a share has what it gives, also if nothing that was given on counted. */
export function rightsOfMakers(reader: Reader, tenant: Tenant, now: number) {
  const makers = new Map<IdTag, FileViewer>()
  return async ({ createdBy, fileId, permission }: Share, how?: 'without what was given on') => {
    const maker = makers.get(createdBy) ?? (await findViewerNamed(reader, tenant, createdBy))
    makers.set(createdBy, maker)
    const withoutDerived = how === undefined ? undefined : true
    const found = await findAccessibleFile(reader, maker, { fileId, now, withoutDerived })
    return found !== undefined && found.level >= neededFor(permission)
  }
}

/** What happens to the shares of files that are about to go for ever. */
export async function endSharesOfFiles(deps: EndDeps, tx: Writer, fileIds: readonly FileId[]): Promise<void> {
  await endShares(deps, tx, await listSharesOfFiles(tx, fileIds))
}
