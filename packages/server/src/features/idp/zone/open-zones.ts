import type { IdTag } from '@kith/protocol'
import type { Settings } from '#features/settings/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { NodeBus } from '#infra/bus/index.ts'
import { serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import type { Zones } from '#infra/dns-server/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { answerQuestion } from './answer-question.ts'
import { transferRecords } from './transfer-records.ts'
import { watchChanges } from './watch-changes.ts'
import { ZoneMemory, type ZoneMemoryDeps } from './zone-memory.ts'
import { findTransferPolicy } from './zone-settings.ts'
import { raiseSerial } from './zone-store.ts'

/** The zones of the providers on this server. Answers come from memory. Processes tell each other of a changed name; where
 * they cannot be reached, answers may be 2 s old. After another process changed a setting they may be 5 s old. */
export interface ProviderZones extends Zones {
  /** Raises the serial with the change of a name that the provider of `tx` gives. */
  noteChange(tx: Writer, idTag: IdTag): Promise<void>
  /** The same for every zone, when a tenant is added to this server. */
  noteHosted(tx: Writer): Promise<void>
  /** The same for a setting that the records depend on. */
  noteSetting(tx: Writer, name: string): Promise<void>
}

interface ZonesDeps extends ZoneMemoryDeps {
  readonly settings: Pick<Settings, 'find' | 'findNow'>
  readonly tenants: Pick<Tenants, 'list' | 'listNow' | 'findByHost'>
  readonly nodeBus: Pick<NodeBus, 'publish' | 'subscribe'>
}

const channel = 'zones'

/** What processes tell each other. */
interface ChangedName {
  readonly tenantId: TenantId
  readonly idTag: IdTag
}

export function openZones({ nodeBus, ...given }: ZonesDeps): ProviderZones {
  const { clock, settings, discoveryNames } = given
  const memory = new ZoneMemory(given)
  nodeBus.subscribe(channel, {
    onMessage(message) {
      const { tenantId, idTag } = JSON.parse(message) as ChangedName
      memory.forgetSerial(tenantId)
      memory.forgetNames(namesAround(idTag, discoveryNames))
    },
    onGap: () => memory.forgetAll(),
  })
  const noteAll = async (tx: Writer) => {
    await raiseSerial(tx.as(serverTenant), nowSecs(clock))
    tx.afterCommit(() => memory.forgetAll())
  }
  return {
    answer: (question) => answerQuestion(memory, question),
    findTransferPolicy: () => findTransferPolicy(settings),
    watchChanges: () => watchChanges(given),
    async openTransfer(name) {
      const node = await memory.find(name)
      if (node?.zone.idTag !== name) return undefined
      // Read from the database: what is transferred must not be older than its serial.
      memory.forgetSerial(node.zone.tenantId)
      return { soa: await memory.soaOf(node.zone), records: transferRecords(memory.deps, node.zone) }
    },
    async noteChange(tx, idTag) {
      await raiseSerial(tx, nowSecs(clock))
      const changed: ChangedName = { tenantId: tx.tenantId, idTag }
      // Reaches the listener above at once.
      tx.afterCommit(() => nodeBus.publish(channel, JSON.stringify(changed)))
    },
    noteHosted: noteAll,
    async noteSetting(tx, name) {
      if (isOfZones(name)) await noteAll(tx)
    },
  }
}

function isOfZones(setting: string): boolean {
  return setting.startsWith('dns.') || setting === 'idp.enabled' || setting === 'idp.server_url'
}

/** A name, those above it, and those of its records of discovery. */
function namesAround(idTag: IdTag, discoveryNames: readonly string[]): string[] {
  const labels = idTag.split('.')
  const above = labels.map((_, from) => labels.slice(from).join('.'))
  return [...above, ...discoveryNames.map((word) => `_${word}.${idTag}`)]
}
