import { shownName } from '#lib/identity.ts'
import { intlOf } from '#lib/intl.ts'
import { useLocale } from '#ui/use-texts.ts'

/** Who takes part, as a list in words; an identity stands for a name that is empty. */
export function useNames(participants: readonly { readonly idTag: string; readonly name: string }[]): string {
  const locale = useLocale()
  const names = participants.map(({ idTag, name }) => shownName(name, idTag))
  return intlOf(Intl.ListFormat, locale, { style: 'short' }).format(names)
}
