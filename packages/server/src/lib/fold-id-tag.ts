import { domainToUnicode } from 'node:url'
import { foldText } from '@kith/protocol'

/** The identity as people write it, folded, where that is not its A-labels: what it is searched by besides these. */
export function foldIdTag(idTag: string): string {
  return idTag.includes('xn--') ? foldText(domainToUnicode(idTag)) : ''
}
