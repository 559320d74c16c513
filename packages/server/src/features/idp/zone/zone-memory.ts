import { parseIdTag } from '@kith/protocol'
import type { Tenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { ResourceRecord } from '#infra/dns-server/index.ts'
import type { Clock } from '#lib/clock.ts'
import { RecentReads } from '#lib/recent-reads.ts'
import { findNode, type NodeDeps, type ZoneNode } from './find-node.ts'
import { listParentNames } from './hosted-names.ts'
import { findZoneSettings } from './zone-settings.ts'
import { findSerial } from './zone-store.ts'

export interface ZoneMemoryDeps extends Omit<NodeDeps, 'findZone' | 'findParentNames'> {
  readonly tenants: Pick<Tenants, 'listNow'>
  readonly clock: Pick<Clock, 'now'>
}

// How long a change by another process may go unnoticed.
const freshMs = 2_000
// Some hundred bytes each. Names that do not exist are cached as well, and clients choose those.
const maxNames = 20_000
const maxZones = 1_000
// Of names that have others below them, some hundred bytes each.
const maxParents = 5_000
const negativeTtl = 60
const outside = Symbol('outside')

/** Names and serials that were read a short while ago. */
export class ZoneMemory {
  readonly deps: NodeDeps
  readonly #tenants: ZoneMemoryDeps['tenants']
  readonly #nodes: RecentReads<string, ZoneNode | typeof outside>
  readonly #zones: RecentReads<string, Tenant | typeof outside>
  readonly #serials: RecentReads<TenantId, { readonly serial: number }>
  readonly #parents: RecentReads<TenantId, { readonly names: Promise<ReadonlySet<string>> }>

  constructor({ clock, tenants, ...given }: ZoneMemoryDeps) {
    this.#nodes = new RecentReads({ clock, maxEntries: maxNames, freshMs })
    this.#zones = new RecentReads({ clock, maxEntries: maxParents, freshMs })
    this.#serials = new RecentReads({ clock, maxEntries: maxZones, freshMs })
    this.#parents = new RecentReads({ clock, maxEntries: maxZones, freshMs })
    this.#tenants = tenants
    this.deps = {
      ...given,
      findZone: (name) => this.#findZone(name),
      findParentNames: (zone) => this.#findParentNames(zone),
    }
  }

  /** Undefined outside of all zones. */
  async find(name: string): Promise<ZoneNode | undefined> {
    const node = await this.#nodes.read(name, async () => (await findNode(this.deps, name)) ?? outside)
    return node === outside ? undefined : node
  }

  async soaOf({ tenantId, idTag }: Tenant): Promise<ResourceRecord> {
    const { db, settings, nameServerAddresses } = this.deps
    const { serial } = await this.#serials.read(tenantId, async () => ({
      serial: await findSerial(db.reader(tenantId)),
    }))
    const { nameServers, mailbox } = await findZoneSettings(settings, idTag, nameServerAddresses)
    const times = { refreshSecs: 300, retrySecs: 60, expireSecs: 14 * 86_400, negativeTtl }
    const primary = nameServers[0]?.host ?? idTag
    return { name: idTag, ttl: negativeTtl, type: 'SOA', data: { primary, mailbox, serial, ...times } }
  }

  /** The lowest of the providers with the name, or one above it. */
  async #findZone(name: string): Promise<Tenant | undefined> {
    const zone = await this.#zones.read(name, async () => {
      const labels = name.split('.')
      const names = labels.map((_, from) => parseIdTag(labels.slice(from).join('.')))
      const idTags = names.filter((idTag) => idTag !== undefined)
      const hosted = idTags.length === 0 ? [] : await this.#tenants.listNow({ tenantIds: [], idTags })
      for (const tenant of hosted.sort((a, b) => b.idTag.length - a.idTag.length))
        if (await this.deps.isProvider(tenant)) return tenant
      return outside
    })
    return zone === outside ? undefined : zone
  }

  /** Concurrent questions share one query. */
  async #findParentNames(zone: Tenant): Promise<ReadonlySet<string>> {
    const { tenantId } = zone
    const listed = await this.#parents.read(tenantId, async () => {
      const names = listParentNames(this.deps, zone)
      names.catch(() => this.#parents.forget(tenantId))
      return { names }
    })
    return await listed.names
  }

  forgetNames(names: readonly string[]): void {
    for (const name of names) this.#nodes.forget(name)
  }

  forgetSerial(tenantId: TenantId): void {
    this.#serials.forget(tenantId)
  }

  forgetAll(): void {
    for (const memory of [this.#nodes, this.#zones, this.#serials, this.#parents]) memory.forgetAll()
  }
}
