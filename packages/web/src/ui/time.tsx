import { formatAge, formatMoment } from '#lib/format.ts'
import { useLocale } from './use-texts.ts'

/** A moment as its age; the whole date and time is its title. */
export function Time({ iso }: { readonly iso: string }) {
  const locale = useLocale()
  const date = new Date(iso)
  return (
    <time dateTime={iso} title={formatMoment(date, locale)}>
      {formatAge(date, new Date(), locale)}
    </time>
  )
}
