import { type CursorPage, maxTotal, type OffsetPage } from '@kith/protocol'
import { searchWords } from '#features/actions/index.ts'
import { findViewer } from '#features/relations/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { AppOffer } from './app-offer.ts'
import { listOffersFrom, pageOffers } from './offer-store.ts'

export interface ListDeps {
  readonly db: Database
  readonly clock: Clock
}

interface ListRequest {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly search?: string | undefined
  readonly cursor?: string | undefined
  readonly offset?: number | undefined
  readonly limit?: number | undefined
}

/** The apps that a tenant may install, as far as the caller may read their offers; of each the newest version. */
export async function listApps(
  { db, clock }: ListDeps,
  { tenant, caller, search, cursor, offset, limit = 20 }: ListRequest,
): Promise<CursorPage<AppOffer> | OffsetPage<AppOffer>> {
  const words = search === undefined ? [] : searchWords(search)
  const reader = db.reader(tenant.tenantId)
  const viewer = await findViewer(reader, tenant, caller)
  // What has no word is found nowhere.
  const listing = {
    viewer,
    now: nowSecs(clock),
    words,
    isEmpty: search !== undefined && words.length === 0,
    limit,
  }
  return offset === undefined
    ? pageOffers(reader, { ...listing, cursor })
    : listOffersFrom(reader, { ...listing, offset, maxTotal })
}
