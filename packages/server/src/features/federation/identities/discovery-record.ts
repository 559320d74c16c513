import type { IdTag } from '@kith/protocol'
import { registrableDomain } from '#infra/dns/index.ts'
import { parseServerUrl, type UrlRules } from './server-url.ts'

/** What the TXT records of one name say. Two servers for one identity are no answer: which of them is asked must not
 * depend on the order in which the records come. */
export type RecordVerdict =
  | { readonly kind: 'server'; readonly server: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous' }

/** Reads TXT records `v=1 server=<URL>`. Records of another form are for other programs and do not count. */
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

// An identity may have 126 labels: too many queries for one token.
const maxNames = 8

/** The names at which to look for a record, in order: the identity, then its parents up to the registrable domain. Of
 * a long way the middle is left out. */
export async function namesToAsk(idTag: IdTag): Promise<string[]> {
  const registrable = await registrableDomain(idTag)
  const names: string[] = [idTag]
  for (let name: string = idTag; name !== registrable; ) {
    name = name.slice(name.indexOf('.') + 1)
    names.push(name)
  }
  return names.length <= maxNames ? names : [idTag, ...names.slice(1 - maxNames)]
}
