/** The data of a record, by its type. Names are absolute, in lower case, without the dot at the end. */
export type RecordData =
  | { readonly type: 'A' | 'AAAA' | 'NS' | 'CNAME' | 'TXT'; readonly data: string }
  | { readonly type: 'SOA'; readonly data: StartOfAuthority }
  | { readonly type: 'CAA'; readonly data: CaaProperty }

export type ResourceRecord = RecordData & { readonly name: string; readonly ttl: number }

export interface StartOfAuthority {
  readonly primary: string
  /** The mail address of the zone's keeper with a dot in place of the `@`. */
  readonly mailbox: string
  readonly serial: number
  readonly refreshSecs: number
  readonly retrySecs: number
  readonly expireSecs: number
  readonly negativeTtl: number
}

export interface CaaProperty {
  readonly flags: number
  readonly tag: string
  readonly value: string
}

export const recordTypes = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  TXT: 16,
  AAAA: 28,
  CAA: 257,
} as const
export type RecordType = keyof typeof recordTypes

/** Query types and pseudo-records: zones have no records of these. */
export const metaTypes = {
  OPT: 41,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
} as const

const namesOfTypes = new Map<number, RecordType>(
  (Object.keys(recordTypes) as RecordType[]).map((name) => [recordTypes[name], name]),
)

/** Undefined for types that zones have no records of. */
export function recordTypeOf(code: number): RecordType | undefined {
  return namesOfTypes.get(code)
}

// RFC 1035 section 4.1.1, RFC 6891 section 9 and RFC 8945 section 3.
export const responseCodes = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  NOTAUTH: 9,
  BADVERS: 16,
} as const
export type ResponseCode = keyof typeof responseCodes
