import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FileId, IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { forEachApart } from '#lib/for-each-apart.ts'
import type { AnnounceDeps } from './announce-share.ts'
import { doubtShares, listTenantsInDoubt } from './doubted-shares-store.ts'
import { type EndDeps, endShares } from './end-shares.ts'
import { foundationChecker } from './found-share.ts'
import { reviewAtOnce, reviewShares } from './review-shares.ts'
import type { Share } from './share.ts'
import { findShare, listExpired, listResharesAfter, type ResharePlace } from './share-store.ts'

export interface SweepSharesDeps extends EndDeps {
  readonly db: Database
  readonly findTenant: (tenantId: TenantId) => Promise<Tenant | undefined>
}

const sharesPerBatch = 200
// Looked at in one sweep, the others in the next: some hundreds of milliseconds, in slices that let others come between.
const mostExamined = 5_000
const sharesPerSlice = 20

const first: ResharePlace = { tenantId: 0, shareId: 0 }

/** Removes what has expired, and what somebody gave on who has it no longer. */
export class ShareSweep {
  readonly #deps: SweepSharesDeps
  #place = first

  constructor(deps: SweepSharesDeps) {
    this.#deps = deps
  }

  async run(): Promise<void> {
    await forEachApart(
      [() => endExpired(this.#deps), () => this.#reviewDoubted(), () => this.#examineSome()],
      (work) => work(),
    )
  }

  async #reviewDoubted(): Promise<void> {
    await forEachApart(await listTenantsInDoubt(this.#deps.db.reader(serverTenant)), (tenantId) =>
      reviewShares(this.#deps, { tenantId }),
    )
  }

  async #examineSome(): Promise<void> {
    const batch = await listResharesAfter(this.#deps.db.reader(serverTenant), this.#place, mostExamined)
    const last = batch.at(-1)
    this.#place =
      last && batch.length === mostExamined ? { tenantId: last.tenantId, shareId: last.share.shareId } : first
    await forEachApart(
      Map.groupBy(batch, (row) => row.tenantId),
      ([tenantId, found]) =>
        this.#examine(
          tenantId,
          found.map(({ share }) => share),
        ),
    )
  }

  async #examine(tenantId: TenantId, shares: readonly Share[]): Promise<void> {
    const { db, clock, findTenant } = this.#deps
    const tenant = await findTenant(tenantId)
    if (!tenant) return
    const isFounded = foundationChecker(db.reader(tenantId), tenant, nowSecs(clock))
    const unfounded: number[] = []
    for (const [index, share] of shares.entries()) {
      if (index % sharesPerSlice === 0) await nextTurn()
      if (!(await isFounded(share))) unfounded.push(share.shareId)
    }
    for (let start = 0; start < unfounded.length; start += sharesPerSlice)
      await db.transact(tenantId, async (tx) => {
        const doubted = await doubtShares(tx, unfounded.slice(start, start + sharesPerSlice))
        await reviewAtOnce(this.#deps, tx, tenant, doubted)
      })
  }
}

/** Shares that have expired gave nothing any more. */
async function endExpired(deps: SweepSharesDeps): Promise<void> {
  const { db, clock } = deps
  const now = nowSecs(clock)
  let count = sharesPerBatch
  while (count === sharesPerBatch) {
    const batch = await listExpired(db.reader(serverTenant), now, sharesPerBatch)
    await forEachApart(
      Map.groupBy(batch, (row) => row.tenantId),
      ([tenantId, expired]) =>
        db.transact(tenantId, async (tx) => {
          // Somebody may have prolonged one meanwhile.
          const current = await Promise.all(
            expired.map(({ share }) => findShare(tx, share.fileId, share.shareId)),
          )
          await endShares(
            deps,
            tx,
            current.filter((share) => share?.expiresAt !== undefined && share.expiresAt <= now) as Share[],
          )
        }),
    )
    count = batch.length
  }
}

/** Does the work of `withdrawShareJob`. */
export async function withdrawShare(
  deps: AnnounceDeps & Pick<SweepSharesDeps, 'db' | 'findTenant'>,
  payload: { readonly fileId: string; readonly audienceTag: string },
  { tenantId }: { readonly tenantId: TenantId },
): Promise<void> {
  const tenant = await deps.findTenant(tenantId)
  if (!tenant) return
  const fileId = payload.fileId as FileId
  const audienceTag = payload.audienceTag as IdTag
  const notice = { tenant, caller: undefined, audienceTag, fileId, grant: 'withdrawn' } as const
  const announce = await deps.prepareFileShare(notice)
  await deps.db.transact(tenantId, announce)
}
