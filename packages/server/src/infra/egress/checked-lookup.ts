import { isIP, type LookupFunction } from 'node:net'
import type { DnsResolver } from '#infra/dns/index.ts'
import { EgressError } from './egress.ts'
import { assertAllowed, type NetworkPolicy } from './network-policy.ts'

export interface LookupDeps {
  readonly resolver: Pick<DnsResolver, 'resolveAddresses'>
  readonly policy: NetworkPolicy
}

interface FoundAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** The addresses of a host, each of which may be reached. One that may not spoils the rest: a public name with an
 * inside address is either a mistake or an attempt. */
export async function resolveChecked(host: string, deps: LookupDeps): Promise<FoundAddress[]> {
  const addresses = isIP(host) === 0 ? await addressesOf(host, deps) : [host]
  for (const address of addresses) assertAllowed(address, host, deps.policy)
  return addresses.map((address) => ({ address, family: isIP(address) === 6 ? 6 : 4 }))
}

async function addressesOf(host: string, { resolver }: LookupDeps): Promise<readonly string[]> {
  // RFC 6761: these names mean this machine, whatever a DNS server says.
  if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1']
  const answer = await resolver.resolveAddresses(host)
  if (answer.kind === 'not-found') throw new EgressError('unknown-host', `there is no host ${host}`)
  if (answer.kind === 'unreachable') {
    throw new EgressError('dns', `the DNS does not answer for ${host}`, { cause: answer.cause })
  }
  return answer.records
}

/** For `net.connect`: resolves once and hands over just the addresses that were checked, so that a name cannot change
 * its meaning between check and connection. */
export function checkedLookup(deps: LookupDeps): LookupFunction {
  return (host, options, callback) => {
    resolveChecked(host, deps).then(
      (found) => {
        const [first] = found
        if (options.all || !first) callback(null, found)
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, []),
    )
  }
}
