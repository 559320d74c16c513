import { foldText } from '@kith/protocol'
import { foldIdTag } from '#lib/fold-id-tag.ts'

/** What an identity is found by, with names as A-labels and as people write them. */
export function searchColumns(idTag: string, email: string | undefined) {
  const [local = '', host = ''] = email?.split('@') ?? []
  const written = host.includes('xn--') ? `${foldText(local)}@${foldIdTag(host)}` : ''
  return {
    search_name: [idTag, foldIdTag(idTag)].join('\n').trim(),
    search_email: [foldText(email ?? ''), written].join('\n').trim(),
  }
}
