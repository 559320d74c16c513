import { type CursorPage, maxTotal, type OffsetPage } from '@kith/protocol'
import { searchWords } from '#features/actions/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { AppOffer } from './app-offer.ts'
import { listOffersFrom, pageOffers } from './offer-store.ts'
import { listPublishers, type PublisherDeps } from './publishers.ts'

export interface ListDeps extends PublisherDeps {
  readonly clock: Clock
}

interface ListRequest {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly search?: string | undefined
  readonly cursor?: string | undefined
  readonly offset?: number | undefined
  readonly limit?: number | undefined
}

/** The apps that a tenant may install, as far as the caller may read their offers; of each the newest version. */
export async function listApps(
  deps: ListDeps,
  { tenant, caller, search, cursor, offset, limit = 20 }: ListRequest,
): Promise<CursorPage<AppOffer> | OffsetPage<AppOffer>> {
  const words = search === undefined ? [] : searchWords(search)
  const publishers = await listPublishers(deps, { tenant, readerTag: caller.idTag })
  const hasNone = publishers.length === 0 || (search !== undefined && words.length === 0)
  const listing = { publishers: hasNone ? [] : publishers, words, limit, now: nowSecs(deps.clock) }
  const reader = deps.db.reader(serverTenant)
  return offset === undefined
    ? pageOffers(reader, { ...listing, cursor })
    : listOffersFrom(reader, { ...listing, offset, maxTotal })
}
