/** What DNS says of a name. `not-found`: there is no such record, for certain. `unreachable`: nobody could tell;
 * another time the answer may be different. */
export type DnsAnswer =
  | { readonly kind: 'found'; readonly records: readonly string[] }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'unreachable'; readonly cause: unknown }

/** Asks the DNS. Names are given whole (no search list) and in A-label form; no answer is cached here. */
export interface DnsResolver {
  /** One text per record: the strings of a record are joined without a separator. */
  resolveTxt(name: string): Promise<DnsAnswer>
  /** The IPv6 and IPv4 addresses of a name, CNAMEs followed. */
  resolveAddresses(name: string): Promise<DnsAnswer>
  resolveCname(name: string): Promise<DnsAnswer>
  /** The serial of a zone, in digits. */
  resolveSerial(zone: string): Promise<DnsAnswer>
}
