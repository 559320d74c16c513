import type { IdTag } from '@kith/protocol'
import { type ResourceRecord, recordText } from '#infra/dns-server/index.ts'
import { Failure } from '#lib/failure.ts'
import { type Command, type CommandInput, readIdTag } from '../command.ts'
import { eachTenant, getHosted, type Program, withProgram } from '../open-program.ts'

interface Zone {
  readonly zone: IdTag
  readonly serial: number
  readonly records: readonly ResourceRecord[]
}

export const dnsZone: Command = {
  name: 'dns zone',
  summary: 'Print the zone of an identity provider of this server, or of all, as a zone file.',
  description:
    'It is what the server answers where `DNS_LISTEN` says, and what a secondary fetches, with the serial of now: to compare, or to import elsewhere. A copy that was imported does not follow changes.',
  positionals: ['[IDTAG]'],
  options: {},
  async run(input) {
    return withProgram(input, async (program) => {
      const zones = await Array.fromAsync(readZones(program, await listWanted(program, input)))
      const text = zones.flatMap((zone, at) => [...(at === 0 ? [] : ['']), ...zoneText(zone)])
      return { text: zones.length === 0 ? 'No tenant gives names.' : text, data: { zones } }
    })
  },
}

async function listWanted(program: Program, { arguments: { IDTAG } }: CommandInput): Promise<IdTag[]> {
  if (IDTAG === undefined) {
    const all = await Array.fromAsync(eachTenant(program.identity.tenants))
    return all.map(({ idTag }) => idTag)
  }
  const { idTag } = await getHosted(program, readIdTag(IDTAG))
  if (await program.zones.openTransfer(idTag)) return [idTag]
  const set = `kith settings set idp.enabled true --tenant ${idTag}`
  throw new Failure('E-STATE', { message: `${idTag} gives no names to others: ${set}` })
}

async function* readZones({ zones }: Program, idTags: readonly IdTag[]): AsyncGenerator<Zone> {
  for (const zone of idTags) {
    const transfer = await zones.openTransfer(zone)
    if (transfer?.soa.type !== 'SOA') continue
    const records = [transfer.soa, ...(await Array.fromAsync(transfer.records)).flat()]
    yield { zone, serial: transfer.soa.data.serial, records }
  }
}

function zoneText({ zone, serial, records }: Zone): string[] {
  return [`; ${zone}, serial ${serial}, ${records.length} records`, ...records.map(recordText)]
}
