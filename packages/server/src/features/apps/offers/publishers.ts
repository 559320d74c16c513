import type { IdTag } from '@kith/protocol'
import { listEffectiveRelations, roleOf, type Viewer, viewerOf } from '#features/relations/index.ts'
import type { HostedTenant, Tenants } from '#features/tenants/index.ts'
import { identified, type Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { listPublisherIds } from './publisher-store.ts'

/** A publisher, and who the reader is to it. */
export interface Publisher {
  readonly tenant: HostedTenant
  readonly viewer: Viewer
}

export interface PublisherDeps {
  readonly db: Database
  readonly tenants: Pick<Tenants, 'listNow'>
}

interface Reading {
  /** For whom an app would be installed. */
  readonly tenant: Tenant
  /** Who asks. */
  readonly readerTag: IdTag
}

// A list of apps binds the number of each to its statement, three times.
const maxPublishers = 1000

/** Whose apps a tenant may install: its own, and those of active tenants of this server that it follows or is connected
 * with. Not of those that block the tenant or the reader, or that the tenant or the server blocks. */
export async function listPublishers(deps: PublisherDeps, reading: Reading): Promise<Publisher[]> {
  return among(deps, reading, await listPublisherIds(deps.db.reader(reading.tenant.tenantId), maxPublishers))
}

/** One of them. */
export async function findPublisher(
  deps: PublisherDeps,
  reading: Reading,
  publisherId: TenantId,
): Promise<Publisher | undefined> {
  const [found] = await among(deps, reading, [publisherId])
  return found
}

async function among(
  { db, tenants }: PublisherDeps,
  { tenant, readerTag }: Reading,
  publisherIds: readonly TenantId[],
): Promise<Publisher[]> {
  if (publisherIds.length === 0) return []
  const listed = await tenants.listNow({ tenantIds: publisherIds, idTags: [] })
  const active = listed.filter(({ suspendedAt }) => suspendedAt === undefined)
  const reader = db.reader(serverTenant)
  const tags = active.map(({ idTag }) => idTag)
  if (active.length === 0) return []
  const chosen = await listEffectiveRelations(reader, [tenant.tenantId], tags)
  const shown = await listEffectiveRelations(reader, publisherIds, [readerTag, tenant.idTag])
  return active.flatMap((publisher) => {
    const isOwn = publisher.tenantId === tenant.tenantId
    const relation = isOwn ? undefined : chosen(tenant.tenantId, publisher.idTag)
    const isChosen = isOwn || relation?.isFollowing || relation?.connection === 'connected'
    const isBlocking = shown(publisher.tenantId, tenant.idTag)?.isBlocked === true
    if (!isChosen || relation?.isBlocked || (isBlocking && !isOwn)) return []
    const viewer = viewerAt(publisher, readerTag, shown(publisher.tenantId, readerTag))
    // A viewer without an identity is one whom the publisher blocks.
    return viewer.idTag === undefined ? [] : [{ tenant: publisher, viewer }]
  })
}

function viewerAt(
  publisher: HostedTenant,
  readerTag: IdTag,
  relation: ReturnType<Awaited<ReturnType<typeof listEffectiveRelations>>>,
): Viewer {
  const isOwner = readerTag === publisher.idTag
  const role = isOwner ? 'leader' : relation ? roleOf(relation) : 'public'
  const caller = identified(readerTag, { tokenUse: 'login', role, isOwner })
  return viewerOf(publisher, caller, { relation: isOwner ? undefined : relation })
}
