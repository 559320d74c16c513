import type { IdTag } from '@kith/protocol'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import type { Zones } from '#infra/dns-server/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { answerQuestion } from './answer-question.ts'
import { transferRecords } from './transfer-records.ts'
import { ZoneMemory, type ZoneMemoryDeps } from './zone-memory.ts'
import { findTransferPolicy } from './zone-settings.ts'
import { raiseSerial } from './zone-store.ts'

/** The zones of the providers on this server. Answers come from memory and may be 2 s old after another process changed
 * a name, and 5 s after it changed a setting. */
export interface ProviderZones extends Zones {
  /** Raises the serial with the change of a name that the provider of `tx` gives. */
  noteChange(tx: Writer, idTag: IdTag): Promise<void>
  /** The same for every zone, when a tenant is added to this server. */
  noteHosted(tx: Writer): Promise<void>
  /** The same for a setting that the records depend on. */
  noteSetting(tx: Writer, name: string): Promise<void>
}

export function openZones(given: ZoneMemoryDeps): ProviderZones {
  const { clock, settings, discoveryNames } = given
  const memory = new ZoneMemory(given)
  const noteAll = async (tx: Writer) => {
    await raiseSerial(tx.as(serverTenant), nowSecs(clock))
    tx.afterCommit(() => memory.forgetAll())
  }
  return {
    answer: (question) => answerQuestion(memory, question),
    findTransferPolicy: () => findTransferPolicy(settings),
    async openTransfer(name) {
      const node = await memory.find(name)
      if (node?.zone.idTag !== name) return undefined
      // Read from the database: what is transferred must not be older than its serial.
      memory.forgetSerial(node.zone.tenantId)
      return { soa: await memory.soaOf(node.zone), records: transferRecords(memory.deps, node.zone) }
    },
    async noteChange(tx, idTag) {
      await raiseSerial(tx, nowSecs(clock))
      tx.afterCommit(() => {
        memory.forgetSerial(tx.tenantId)
        memory.forgetNames(namesAround(idTag, discoveryNames))
      })
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
