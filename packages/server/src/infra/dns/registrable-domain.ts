import type { IdTag } from '@kith/protocol'

/** The registered domain below a public suffix (private ones such as `github.io` included); the
 * identity itself when it is such a suffix. */
export async function registrableDomain(idTag: IdTag): Promise<string> {
  // The list of suffixes takes 2 MB, which a server without federation does not need.
  const { getDomain } = await import('tldts')
  return getDomain(idTag, { allowPrivateDomains: true }) ?? idTag
}
