import { useLocale } from '#ui/use-texts.ts'

/** The name of a month such as `2026-03`. */
export function useMonthName(): (month: string) => string {
  const format = new Intl.DateTimeFormat(useLocale(), { month: 'long', year: 'numeric', timeZone: 'UTC' })
  return (month) => format.format(new Date(`${month}-01T00:00:00Z`))
}
