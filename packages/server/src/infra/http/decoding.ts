import {
  type Decoding,
  parseActionId,
  parseFileId,
  parseIdTag,
  parseRefId,
  parseTimestamp,
  parseVariantId,
  parseWorldTime,
} from '@kith/protocol'

/** Turns the text of an input into its value, or answers undefined when it has not the form. */
export function decode(decoding: Decoding, input: unknown, words?: readonly string[]): unknown {
  if (decoding === 'timestamp') return parseTimestamp(input)
  if (decoding === 'worldTime') return parseWorldTime(input)
  return typeof input === 'string' ? decodeText(decoding, input, words) : undefined
}

function decodeText(
  decoding: Exclude<Decoding, 'timestamp' | 'worldTime'>,
  text: string,
  words?: readonly string[],
): unknown {
  switch (decoding) {
    case 'idTag':
    case 'profileName':
    case 'domainName':
      return parseIdTag(text)
    case 'commaList': {
      const list = text.split(',').filter((word) => word !== '')
      return words === undefined || list.every((word) => words.includes(word)) ? list : undefined
    }
    case 'fileId':
      return parseFileId(text)
    case 'variantId':
      return parseVariantId(text) && text
    case 'actionId':
      return parseActionId(text)
    case 'refId':
      return parseRefId(text)
  }
}

/** What is wrong with an input that could not be decoded, for a person. */
export function decodingFault(decoding: Decoding, words?: readonly string[]): string {
  switch (decoding) {
    case 'idTag':
      return 'must be an identity: a DNS name of at least two labels'
    case 'timestamp':
    case 'worldTime':
      return 'must be ISO 8601 with a zone, or Unix seconds (not milliseconds)'
    case 'commaList':
      return `must be a comma list of ${words?.join(', ') ?? 'words'}`
    default:
      return 'must be an id'
  }
}
