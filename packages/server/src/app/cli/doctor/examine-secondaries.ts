import { findSerial, listSecondaries } from '#features/idp/index.ts'
import { openSettings } from '#features/settings/index.ts'
import { createDnsResolver } from '#infra/dns/index.ts'
import type { SecondaryAddress } from '#infra/dns-server/index.ts'
import { listZones, type NamesDeps } from './examine-names.ts'
import { shownAddress } from './examine-ports.ts'
import { examine, type Finding, ok, type Verdict, warning } from './finding.ts'

const timeoutMs = 3000
const mostShown = 5

/** Whether the secondaries have the zones of this server as they are now. */
export function examineSecondaries(deps: Omit<NamesDeps, 'dns'>): Promise<Finding>[] {
  const isAnswering = deps.config.federation.dnsListen.length > 0
  return isAnswering ? [examine('Secondaries', () => compareZones(deps))] : []
}

async function compareZones(deps: Omit<NamesDeps, 'dns'>): Promise<Verdict> {
  const zones = await listZones(deps)
  if (zones.length === 0) return ok('No tenant gives names.')
  const secondaries = await listSecondaries(openSettings(deps))
  if (secondaries.length === 0)
    return ok('There are none: while this server is away its names are not found.')
  const compared = zones.flatMap(async ({ tenantId, idTag }) => {
    const serial = await findSerial(deps.db.reader(tenantId))
    return await Promise.all(secondaries.map((secondary) => faultOf(secondary, idTag, serial)))
  })
  const faults = (await Promise.all(compared)).flat().filter((fault) => fault !== undefined)
  if (faults.length === 0)
    return ok(`All ${secondaries.length} have ${zones.map(({ idTag }) => idTag).join(', ')}.`)
  return warning(
    faults.slice(0, mostShown).join(' '),
    'Look into its log: it has to have the zone, its address in dns.transfer_networks and the key of dns.transfer_key. It may be behind for some seconds after a change.',
  )
}

async function faultOf(
  secondary: SecondaryAddress,
  zone: string,
  serial: number,
): Promise<string | undefined> {
  const shown = shownAddress(secondary)
  const answer = await createDnsResolver({ servers: [shown], timeoutMs }).resolveSerial(zone)
  if (answer.kind !== 'found') return `${shown} does not answer for ${zone}.`
  const theirs = Number(answer.records[0])
  // Serials are compared as on a circle (RFC 1982). One that signs the zone counts on by itself.
  const isBehind = (serial - theirs) >>> 0 !== 0 && (serial - theirs) >>> 0 < 2 ** 31
  return isBehind ? `${shown} has serial ${theirs} of ${zone}, which is ${serial} here.` : undefined
}
