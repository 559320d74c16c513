import { intlOf } from './intl.ts'

const dayMs = 86_400_000

/** The day of a moment for a line between messages: today and yesterday in words, then the date. */
export function formatDay(date: Date, now: Date, locale: string): string {
  const days = Math.round((startOfDay(date) - startOfDay(now)) / dayMs)
  if (days === 0 || days === -1)
    return capitalized(
      intlOf(Intl.RelativeTimeFormat, locale, { numeric: 'auto' }).format(days, 'day'),
      locale,
    )
  const year = date.getFullYear() === now.getFullYear() ? {} : ({ year: 'numeric' } as const)
  return intlOf(Intl.DateTimeFormat, locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...year,
  }).format(date)
}

/** The time of day. */
export function formatTime(date: Date, locale: string): string {
  return intlOf(Intl.DateTimeFormat, locale, { timeStyle: 'short' }).format(date)
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
}

function capitalized(text: string, locale: string): string {
  return text.slice(0, 1).toLocaleUpperCase(locale) + text.slice(1)
}
