import { foldText } from '@kith/protocol'

// Both parts together fit a key of an index, and a cursor.
const maxPartBytes = 400

/** The key by which files are sorted by name: the name folded, with numbers by their value; then the name itself. */
export function sortNameOf(fileName: string): string {
  const folded = foldText(fileName).replace(/\d+/g, byValue)
  // A tab is less than whatever a name has.
  return `${firstBytes(folded)}\t${firstBytes(fileName)}`
}

/** Its digits behind their number, so that texts compare as the numbers do. */
function byValue(digits: string): string {
  const value = digits.replace(/^0+(?=.)/, '')
  return value.length < 9 ? `${value.length}${value}` : `9${String(value.length).padStart(4, '0')}${value}`
}

function firstBytes(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxPartBytes) return text
  // A character that is cut in two comes out as U+FFFD.
  return bytes
    .subarray(0, maxPartBytes)
    .toString()
    .replace(/\ufffd+$/, '')
}
