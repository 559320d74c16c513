import type { IdTag } from '@kith/protocol'
import type { DnsResolver } from '#infra/dns/index.ts'
import { namesToAsk, type RecordVerdict, readDiscoveryRecords } from './discovery-record.ts'
import type { UrlRules } from './server-url.ts'

/** The discovery name that every server answers to, whatever its own is. */
const commonDiscoveryName = 'service'

/** The discovery names to ask under, in order. */
export function discoveryNames(own: string): string[] {
  return [...new Set([own, commonDiscoveryName])]
}

export interface FindServerDeps extends UrlRules {
  readonly dns: Pick<DnsResolver, 'resolveTxt'>
  /** `DISCOVERY_NAME`. */
  readonly discoveryName: string
  /** `IDENTITY_HOSTS`: server URLs by identity, asked before DNS. */
  readonly identityHosts: ReadonlyMap<IdTag, string>
  /** The address of a `.localhost` identity, which DNS cannot know; for other servers on this machine. */
  readonly localhostUrl: (idTag: IdTag) => string
}

export type FoundServer =
  | { readonly kind: 'server'; readonly server: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unreachable' }

/** Finds the server to ask about an identity: from the operator's list, from the TXT records of the identity and its
 * parents, or else the host of that name. A query that fails ends the search, because it may be the one for the record
 * that decides. */
export async function findServer(
  deps: FindServerDeps,
  idTag: IdTag,
  signal: AbortSignal,
): Promise<FoundServer> {
  const listed = deps.identityHosts.get(idTag)
  if (listed !== undefined) return { kind: 'server', server: listed }
  if (idTag.endsWith('.localhost')) return { kind: 'server', server: deps.localhostUrl(idTag) }
  for (const name of await namesToAsk(idTag)) {
    const verdict = await askDns(deps, name, signal)
    if (verdict.kind === 'server' || verdict.kind === 'unreachable') return verdict
    if (verdict.kind === 'ambiguous') return { kind: 'unknown' }
  }
  return { kind: 'server', server: `https://${idTag}` }
}

/** What the TXT records of one name say, under this server's own discovery name or else under the common one. */
export async function askDns(
  deps: UrlRules & Pick<FindServerDeps, 'dns' | 'discoveryName'>,
  name: string,
  signal?: AbortSignal,
): Promise<RecordVerdict | { readonly kind: 'unreachable' }> {
  for (const word of discoveryNames(deps.discoveryName)) {
    if (signal?.aborted) return { kind: 'unreachable' }
    const answer = await deps.dns.resolveTxt(`_${word}.${name}`)
    if (answer.kind === 'unreachable') return { kind: 'unreachable' }
    const verdict = readDiscoveryRecords(answer.kind === 'found' ? answer.records : [], deps)
    if (verdict.kind !== 'none') return verdict
  }
  return { kind: 'none' }
}
