import type { IdTag } from '@kith/protocol'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { RecentReads } from '#lib/recent-reads.ts'
import type { HostedTenant } from './tenant.ts'
import {
  findBaseTenant,
  findTenantByHost,
  findTenantById,
  findTenantByIdTag,
  listTenants,
  listTenantsAfter,
} from './tenant-store.ts'

/** The tenants of this server. Answers come from memory and may be 2 s old after another process changed a tenant. */
export interface Tenants {
  find(idTag: IdTag): Promise<HostedTenant | undefined>
  /** By the name of a host, in lower case and without port, which may be an idTag or an app domain. */
  findByHost(host: string): Promise<HostedTenant | undefined>
  findById(tenantId: TenantId): Promise<HostedTenant | undefined>
  /** Throws `E-UNAVAILABLE` before the first start has made one. */
  base(): Promise<HostedTenant>
  /** From the database, in order of creation; `after` is the last tenant of the page before. */
  list(page: { after?: TenantId; limit: number }): Promise<HostedTenant[]>
  /** Those with these numbers and those with these names, from the database. */
  listNow(which: { tenantIds: readonly TenantId[]; idTags: readonly IdTag[] }): Promise<HostedTenant[]>
  /** Drops what is in memory: for those who change a tenant, after the commit. */
  forget(): void
}

// Bounds how long another process's suspension goes unseen here: with the review of open sockets it has to stay below 5 s.
const freshMs = 2_000
// One entry is some hundred bytes, and unknown names are kept as well: 20 000 of them are about 5 MB.
const maxEntries = 20_000
const absent = Symbol('absent')

export function openTenants({ db, clock }: { db: Database; clock: Clock }): Tenants {
  const recent = new RecentReads<string, HostedTenant | typeof absent>({ clock, maxEntries, freshMs })
  const reader = db.reader(serverTenant)

  async function cached(key: string, load: () => Promise<HostedTenant | undefined>) {
    const tenant = await recent.read(key, async () => (await load()) ?? absent)
    return tenant === absent ? undefined : tenant
  }

  return {
    find: (idTag) => cached(`tag ${idTag}`, () => findTenantByIdTag(reader, idTag)),
    findByHost: (host) => cached(`host ${host}`, () => findTenantByHost(reader, host)),
    findById: (tenantId) => cached(`id ${tenantId}`, () => findTenantById(reader, tenantId)),
    async base() {
      const base = await cached('base', () => findBaseTenant(reader))
      if (!base) throw new Failure('E-UNAVAILABLE')
      return base
    },
    list: ({ after = serverTenant, limit }) => listTenantsAfter(reader, after, limit),
    listNow: (which) => listTenants(reader, which),
    forget: () => recent.forgetAll(),
  }
}
