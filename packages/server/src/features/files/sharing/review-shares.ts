import { changeReference } from '#features/accounts/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, TenantId, Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import {
  confirmShares,
  doubtWhatRestsOn,
  listInDoubt,
  lookAgain,
  markUnfounded,
} from './doubted-shares-store.ts'
import { type EndDeps, endShares, queueReview } from './end-shares.ts'
import { findFoundation } from './found-share.ts'
import type { Foundation } from './foundation.ts'
import { earlier, type Share } from './share.ts'
import { putBases } from './share-store.ts'

// A portion keeps others from writing for some tens of milliseconds.
const sharesPerPortion = 50
// Of what is reviewed with the change that put it in doubt.
const portionsAtOnce = 2

/** Reviews what rests on a share that gives less now, or for a shorter time. */
export async function reviewWhatRestsOn(
  deps: EndDeps,
  tx: Writer,
  tenant: Tenant,
  share: Share,
): Promise<void> {
  await reviewAtOnce(deps, tx, tenant, await doubtWhatRestsOn(tx, [share.shareId]))
}

/** Reviews shares that were put in doubt: few within the transaction, many by a job. */
export async function reviewAtOnce(
  deps: EndDeps,
  tx: Writer,
  tenant: Tenant,
  doubted: number,
): Promise<void> {
  if (doubted === 0) return
  if (doubted <= sharesPerPortion)
    for (let portion = 0; portion < portionsAtOnce; portion += 1)
      if ((await reviewPortion(deps, tx, tenant)) === 'done') return
  await queueReview(deps, tx)
}

/** Does the work of `reviewSharesJob`. */
export async function reviewShares(
  deps: EndDeps & {
    readonly db: Database
    readonly findTenant: (tenantId: TenantId) => Promise<Tenant | undefined>
  },
  { tenantId, signal }: { readonly tenantId: TenantId; readonly signal?: AbortSignal },
): Promise<void> {
  const tenant = await deps.findTenant(tenantId)
  if (!tenant) return
  const portion = () => deps.db.transact(tenantId, (tx) => reviewPortion(deps, tx, tenant))
  while (!signal?.aborted && (await portion()) === 'more');
}

/** Looks at some of the shares of a tenant that are in doubt. What its maker may give by shares that count, counts again,
 * from the owner outwards: two that found only each other never do. When none is left to look at, the others end. */
async function reviewPortion(deps: EndDeps, tx: Writer, tenant: Tenant): Promise<'more' | 'done'> {
  const waiting = await listInDoubt(tx, 'waiting', sharesPerPortion)
  if (waiting.length === 0) {
    const unfounded = await listInDoubt(tx, 'unfounded', sharesPerPortion)
    await endShares(deps, tx, unfounded)
    return unfounded.length < sharesPerPortion ? 'done' : 'more'
  }
  const foundations = new KnownFoundations(tx, tenant, nowSecs(deps.clock))
  const founded: Share[] = []
  const unfounded: number[] = []
  for (const share of waiting) {
    const foundation = await foundations.find(share)
    if (!foundation) {
      unfounded.push(share.shareId)
      continue
    }
    await countAgain(deps, tx, share, foundation)
    foundations.forgetAfter(share)
    founded.push(share)
  }
  await markUnfounded(tx, unfounded)
  await lookAgain(tx, makersWith(founded))
  return 'more'
}

async function countAgain(deps: EndDeps, tx: Writer, share: Share, foundation: Foundation): Promise<void> {
  const { shareId, permission, createdBy, refHash } = share
  const expiresAt = earlier(share.expiresAt, foundation.expiresAt)
  await confirmShares(tx, { shareId, expiresAt })
  await putBases(tx, shareId, foundation.baseIds)
  if (refHash === undefined || expiresAt === share.expiresAt) return
  const accessLevel = permission === 'R' ? 'read' : 'write'
  await changeReference(deps, tx, refHash, { accessLevel, expiresAt, createdBy })
}

/** Who may have more by these shares. */
function makersWith(shares: readonly Share[]): readonly string[] | 'anybody' {
  // The readers of another file may be anybody.
  if (shares.some(({ subjectType }) => subjectType === 'F')) return 'anybody'
  return shares.flatMap(({ subjectType, subjectId }) => (subjectType === 'U' ? [subjectId] : []))
}

/** What founds the shares of one portion, asked once for all that somebody gave alike. At most a portion of them. */
class KnownFoundations {
  readonly #found = new Map<string, Map<string, Foundation | undefined>>()
  readonly #of: readonly [Writer, Tenant, number]

  constructor(...of: readonly [Writer, Tenant, number]) {
    this.#of = of
  }

  async find({ fileId, permission, createdBy }: Share): Promise<Foundation | undefined> {
    const [tx, tenant, now] = this.#of
    const ofMaker = this.#found.get(createdBy) ?? new Map<string, Foundation | undefined>()
    this.#found.set(createdBy, ofMaker)
    const key = `${fileId} ${permission}`
    if (!ofMaker.has(key)) {
      const asked = { fileId, permission, createdBy, now, apartFrom: undefined }
      ofMaker.set(key, await findFoundation(tx, tenant, asked))
    }
    return ofMaker.get(key)
  }

  /** After a share counts again. */
  forgetAfter({ subjectType, subjectId }: Share): void {
    if (subjectType === 'F') this.#found.clear()
    else if (subjectType === 'U') this.#found.delete(subjectId)
  }
}
