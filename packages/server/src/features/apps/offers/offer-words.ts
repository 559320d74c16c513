import { searchTextOf } from '#features/actions/index.ts'
import type { AppOffer } from './app-offer.ts'

/** What an offer is found by, each after a space: the words of name, tags, titles and descriptions, in all languages. */
export function offerWords({
  name,
  description = '',
  tags,
  titles = {},
  descriptions = {},
}: Pick<AppOffer, 'name' | 'description' | 'tags' | 'titles' | 'descriptions'>): string {
  const texts = [...Object.values(titles), ...Object.values(descriptions), ...tags]
  return ` ${searchTextOf({ name, description, text: texts.join(' ') })}`
}
