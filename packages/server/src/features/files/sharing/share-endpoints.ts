import {
  createShare as createShareContract,
  deleteShare as deleteShareContract,
  listFileShares,
  listShares,
  parseIdTag,
  type ShareView,
} from '@kith/protocol'
import { findReferenceByHash, mayManage } from '#features/accounts/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import { bind, type Endpoint, Reshaped } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { writeLevel } from '../access/file-viewer.ts'
import { findFileViewer } from '../access/find-file-viewer.ts'
import { getFile } from '../access/read-file.ts'
import { type GrantDeps, grantShare } from './grant-share.ts'
import { type RevokeShareDeps, revokeShare } from './revoke-share.ts'
import type { Share } from './share.ts'
import { listSharesOf } from './share-store.ts'
import { type Link, shareView } from './share-view.ts'
import { listSharesTo, listSharesToFrom } from './subject-shares-store.ts'

export interface ShareEndpointDeps extends GrantDeps, RevokeShareDeps {
  readonly clock: GrantDeps['clock'] & RevokeShareDeps['clock']
  /** Where the pages of a tenant are, without a final slash. */
  readonly serverUrlOf: (tenant: Tenant) => string
}

export function shareEndpoints(deps: ShareEndpointDeps): Endpoint[] {
  return [
    bind(listFileShares, async ({ tenant, caller, params: { fileId } }) => {
      await getFile(deps, { tenant, caller, fileId }, writeLevel)
      const shares = await listSharesOf(deps.db.reader(tenant.tenantId), fileId, nowSecs(deps.clock))
      return await viewsOf(deps, { tenant, caller }, shares)
    }),
    bind(createShareContract, async ({ tenant, caller, params: { fileId }, body }) => {
      const { subjectType, subjectId, permission, expiresAt } = body
      const grant = { tenant, caller, fileId, subjectType, subjectId, permission, expiresAt }
      const { share, isNew } = await grantShare(deps, grant)
      const [view] = await viewsOf(deps, { tenant, caller }, [share])
      if (!view) throw new TypeError('a share has one view')
      return new Reshaped(view, { status: isNew ? 201 : 200 })
    }),
    bind(deleteShareContract, async ({ tenant, caller, params: { fileId, shareId } }) => {
      if (!/^\d{1,15}$/.test(shareId)) throw new Failure('E-NOTFOUND')
      await revokeShare(deps, { tenant, caller, fileId, shareId: Number(shareId) })
      return null
    }),
    bind(listShares, async ({ tenant, caller, query }) => {
      const { subjectId, subjectType, limit = 20, cursor, offset } = query
      const reader = deps.db.reader(tenant.tenantId)
      const now = nowSecs(deps.clock)
      const who = await findFileViewer(reader, { tenant, caller, now })
      const listing = { who, subjectId, idTag: parseIdTag(subjectId), subjectType, now, limit }
      const { items, ...page } =
        offset === undefined
          ? await listSharesTo(reader, { ...listing, cursor })
          : await listSharesToFrom(reader, { ...listing, offset })
      return { ...page, items: await viewsOf(deps, { tenant, caller }, items) }
    }),
  ]
}

interface Asker {
  readonly tenant: Tenant
  readonly caller: Caller
}

async function viewsOf(
  deps: ShareEndpointDeps,
  asker: Asker,
  shares: readonly Share[],
): Promise<ShareView[]> {
  const views: ShareView[] = []
  for (const share of shares) views.push(shareView(share, await findLink(deps, asker, share)))
  return views
}

/** The link that a share is: for whoever may manage the reference, who might use it as long as it lives. */
async function findLink(
  { db, vault, serverUrlOf }: ShareEndpointDeps,
  { tenant, caller }: Asker,
  { refHash }: Share,
): Promise<Link | undefined> {
  if (refHash === undefined) return undefined
  const reference = await findReferenceByHash(vault, db.reader(tenant.tenantId), refHash)
  if (!reference || !mayManage(caller, reference)) return undefined
  return { refId: reference.refId, url: `${serverUrlOf(tenant)}/shared#token=${reference.refId}` }
}
