import type { IdTag } from '@kith/protocol'
import type { Settings } from '#features/settings/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { NodeBus } from '#infra/bus/index.ts'
import type { Zones } from '#infra/dns-server/index.ts'
import { answerQuestion } from './answer-question.ts'
import { type ChangeNotes, hearChanges, namesAbove, openChangeNotes } from './change-notes.ts'
import { transferRecords } from './transfer-records.ts'
import { watchChanges } from './watch-changes.ts'
import { ZoneMemory, type ZoneMemoryDeps } from './zone-memory.ts'
import { findTransferPolicy } from './zone-settings.ts'

/** The zones of the providers on this server. Answers come from memory. Processes tell each other of changes; where they
 * cannot be reached, answers may be 2 s old. After another process changed a setting they may be 5 s old. */
export interface ProviderZones extends Zones, ChangeNotes {}

interface ZonesDeps extends ZoneMemoryDeps {
  readonly settings: Pick<Settings, 'find' | 'findWith' | 'findNow' | 'forget'>
  readonly tenants: Pick<Tenants, 'list' | 'listNow' | 'forget'>
  readonly nodeBus: Pick<NodeBus, 'publish' | 'subscribe'>
}

export function openZones({ nodeBus, ...given }: ZonesDeps): ProviderZones {
  const { db, clock, settings, tenants, discoveryNames } = given
  const memory = new ZoneMemory(given)
  const forgetAll = () => {
    settings.forget()
    tenants.forget()
    memory.forgetAll()
  }
  hearChanges(nodeBus, {
    onChange({ tenantId, idTag }) {
      memory.forgetSerial(tenantId)
      memory.forgetNames(namesAround(idTag, discoveryNames))
    },
    onMore: forgetAll,
  })
  return {
    ...openChangeNotes({ db, clock, nodeBus, settings, tenants }),
    answer: (question) => answerQuestion(memory, question),
    findTransferPolicy: () => findTransferPolicy(settings),
    watchChanges: () => watchChanges(given),
    async openTransfer(name) {
      // What this process remembers may be older than the serial, which says what the secondary gets.
      forgetAll()
      const node = await memory.find(name)
      if (node?.zone.idTag !== name) return undefined
      return { soa: await memory.soaOf(node.zone), records: transferRecords(given, node.zone) }
    },
  }
}

/** A name, those above it, and those of its records of discovery. */
function namesAround(idTag: IdTag, discoveryNames: readonly string[]): string[] {
  return [idTag, ...namesAbove(idTag), ...discoveryNames.map((word) => `_${word}.${idTag}`)]
}
