import { foldText } from '@kith/protocol'
import { foldIdTag } from '#lib/fold-id-tag.ts'

/** What a profile is found by besides its A-labels: its name and the identity as people write it, folded. */
export function searchNameOf({ idTag, name }: { readonly idTag: string; readonly name: string }): string {
  return [foldText(name), foldIdTag(idTag)].join('\n').trim()
}
