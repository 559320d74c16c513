/** The schema keyword that names how an input's text is turned into its value while it is validated. */
export const decodeKeyword = 'x-decode'
export type Decoding =
  | 'idTag'
  | 'profileName'
  | 'domainName'
  | 'timestamp'
  | 'worldTime'
  | 'commaList'
  | 'fileId'
  | 'variantId'
  | 'actionId'
  | 'refId'
