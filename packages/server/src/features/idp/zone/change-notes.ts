import type { IdTag } from '@kith/protocol'
import type { Settings } from '#features/settings/index.ts'
import { findTenantById, findTenantByIdTag, type Tenants } from '#features/tenants/index.ts'
import type { NodeBus } from '#infra/bus/index.ts'
import { type Database, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { pageProviders } from '../list-providers.ts'
import { beginSerial, raiseOldSerials, raiseSerial } from './zone-store.ts'

/** What raises the serials of zones. The other processes are told. */
export interface ChangeNotes {
  /** Raises the serial with the change of a name that the provider of `tx` gives. */
  noteChange(tx: Writer, idTag: IdTag): Promise<void>
  /** The same for the zones that a tenant of this server lies in, when it is added, suspended, resumed or removed. */
  noteHosted(tx: Writer, idTag: IdTag): Promise<void>
  /** The same for a setting that the records depend on: one of the tenant of `tx` for its zone and those that it lies in, one
   * of the server for every zone. */
  noteSetting(tx: Writer, setting: { readonly name: string; readonly isForAll: boolean }): Promise<void>
  /** The same when a server starts, which may have other addresses or an older database than before. */
  noteStart(): Promise<void>
}

interface NotesDeps {
  readonly db: Database
  readonly clock: Pick<Clock, 'now'>
  readonly nodeBus: Pick<NodeBus, 'publish'>
  readonly settings: Pick<Settings, 'findWith' | 'findNow'>
  readonly tenants: Pick<Tenants, 'list'>
}

/** What processes tell each other; without members everything may have changed. */
interface ChangedName {
  readonly tenantId: TenantId
  readonly idTag: IdTag
}

const channel = 'zones'

export function openChangeNotes(deps: NotesDeps): ChangeNotes {
  const { db, clock, nodeBus, settings } = deps
  const tell = (changed: ChangedName | object) => nodeBus.publish(channel, JSON.stringify(changed))
  const raise = (tx: Writer) => raiseSerial(tx, nowSecs(clock))
  const tellOfMore = (tx: Writer) => tx.afterCommit(() => tell({}))
  const raiseAbove = async (tx: Writer, idTag: IdTag) => {
    for (const name of namesAbove(idTag)) {
      const above = await findTenantByIdTag(tx.as(serverTenant), name)
      if (above) await raise(tx.as(above.tenantId))
    }
  }
  return {
    async noteChange(tx, idTag) {
      await raise(tx)
      tx.afterCommit(() => tell({ tenantId: tx.tenantId, idTag }))
    },
    async noteHosted(tx, idTag) {
      const own = await findTenantByIdTag(tx.as(serverTenant), idTag)
      const ownTx = own && tx.as(own.tenantId)
      if (ownTx && (await settings.findWith(ownTx, 'idp.enabled'))) await raise(ownTx)
      await raiseAbove(tx, idTag)
      tellOfMore(tx)
    },
    async noteSetting(tx, { name, isForAll }) {
      const isProviders = name === 'idp.enabled' || name === 'idp.server_url'
      if (!isProviders && !name.startsWith('dns.')) return
      const own = isForAll ? undefined : await findTenantById(tx.as(serverTenant), tx.tenantId)
      await raise(own ? tx : tx.as(serverTenant))
      if (own) await raiseAbove(tx, own.idTag)
      tellOfMore(tx)
    },
    async noteStart() {
      const providers = (await Array.fromAsync(pageProviders(deps))).flat()
      await db.transact(serverTenant, async (tx) => {
        for (const { tenantId } of providers) await beginSerial(tx.as(tenantId), nowSecs(clock))
        await raiseOldSerials(tx, nowSecs(clock))
        await raise(tx)
        tellOfMore(tx)
      })
    },
  }
}

/** Hears of changes by this process and others. */
export function hearChanges(
  nodeBus: Pick<NodeBus, 'subscribe'>,
  {
    onChange,
    onMore,
  }: {
    readonly onChange: (changed: ChangedName) => void
    /** Everything may have changed. */
    readonly onMore: () => void
  },
): void {
  nodeBus.subscribe(channel, {
    onMessage(message) {
      const { tenantId, idTag } = JSON.parse(message) as Partial<ChangedName>
      if (tenantId === undefined || idTag === undefined) onMore()
      else onChange({ tenantId, idTag })
    },
    onGap: onMore,
  })
}

export function namesAbove(idTag: IdTag): IdTag[] {
  const labels = idTag.split('.')
  return labels.slice(1).map((_, at) => labels.slice(at + 1).join('.') as IdTag)
}
