import type { IdTag } from '@kith/protocol'
import { registrableDomain } from '#infra/dns/index.ts'
import { parseServerUrl, type UrlRules } from './server-url.ts'

/** What the TXT records of one name say. Records that name two servers are ambiguous, because the choice must not
 * depend on the order in which they arrive. */
export type RecordVerdict =
  | { readonly kind: 'server'; readonly server: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous' }

/** Reads TXT records `v=1 server=<URL>`. Records of another form belong to other programs and are ignored. */
export function readDiscoveryRecords(records: readonly string[], rules: UrlRules): RecordVerdict {
  const found = records.map((record) => parseDiscoveryRecord(record, rules))
  const [server, another] = new Set(found.filter((url) => url !== undefined))
  if (server === undefined) return { kind: 'none' }
  return another === undefined ? { kind: 'server', server } : { kind: 'ambiguous' }
}

function parseDiscoveryRecord(record: string, rules: UrlRules): string | undefined {
  const fields = record.split(/[\s;]+/)
  const valuesOf = (name: string) =>
    fields.filter((field) => field.startsWith(`${name}=`)).map((field) => field.slice(name.length + 1))
  const [version, ...versions] = valuesOf('v')
  const [server, ...servers] = valuesOf('server')
  if (version !== '1' || server === undefined || versions.length + servers.length > 0) return undefined
  return parseServerUrl(server, rules)
}

// An identity may have 126 labels, which would be too many queries for one token.
const maxNames = 8

/** The names at which to look for a record, in order: the identity, then its parents up to the registrable domain. When
 * there are more than eight, those after the first are left out until eight remain. */
export async function namesToAsk(idTag: IdTag): Promise<string[]> {
  const registrable = await registrableDomain(idTag)
  const names: string[] = [idTag]
  for (let name: string = idTag; name !== registrable; ) {
    name = name.slice(name.indexOf('.') + 1)
    names.push(name)
  }
  return names.length <= maxNames ? names : [idTag, ...names.slice(1 - maxNames)]
}
