import type { IdTag } from '@kith/protocol'
import { findTenantByIdTag } from '#features/tenants/index.ts'
import type { NodeBus } from '#infra/bus/index.ts'
import { type Database, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { raiseOldSerials, raiseSerial } from './zone-store.ts'

/** What raises the serials of zones. The other processes are told. */
export interface ChangeNotes {
  /** Raises the serial with the change of a name that the provider of `tx` gives. */
  noteChange(tx: Writer, idTag: IdTag): Promise<void>
  /** The same for the zones that a tenant of this server lies in, when it is added, suspended, resumed or removed. */
  noteHosted(tx: Writer, idTag: IdTag): Promise<void>
  /** The same for every zone, for a setting that the records depend on. */
  noteSetting(tx: Writer, name: string): Promise<void>
  /** The same when a server starts, which may have other addresses or an older database than before. */
  noteStart(): Promise<void>
}

interface NotesDeps {
  readonly db: Database
  readonly clock: Pick<Clock, 'now'>
  readonly nodeBus: Pick<NodeBus, 'publish'>
}

/** What processes tell each other; without members everything may have changed. */
interface ChangedName {
  readonly tenantId: TenantId
  readonly idTag: IdTag
}

const channel = 'zones'

export function openChangeNotes({ db, clock, nodeBus }: NotesDeps): ChangeNotes {
  const tell = (changed: ChangedName | object) => nodeBus.publish(channel, JSON.stringify(changed))
  const noteAll = async (tx: Writer) => {
    await raiseSerial(tx.as(serverTenant), nowSecs(clock))
    tx.afterCommit(() => tell({}))
  }
  return {
    async noteChange(tx, idTag) {
      await raiseSerial(tx, nowSecs(clock))
      tx.afterCommit(() => tell({ tenantId: tx.tenantId, idTag }))
    },
    async noteHosted(tx, idTag) {
      for (const name of namesAbove(idTag)) {
        const above = await findTenantByIdTag(tx.as(serverTenant), name)
        if (above) await raiseSerial(tx.as(above.tenantId), nowSecs(clock))
      }
      tx.afterCommit(() => tell({}))
    },
    async noteSetting(tx, name) {
      if (name.startsWith('dns.') || name === 'idp.enabled' || name === 'idp.server_url') await noteAll(tx)
    },
    noteStart: () =>
      db.transact(serverTenant, async (tx) => {
        await raiseOldSerials(tx, nowSecs(clock))
        await noteAll(tx)
      }),
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
