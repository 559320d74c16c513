import { intlOf } from './intl.ts'

/** Date and time, whole; empty where a date is none. */
export function formatMoment(date: Date, locale: string): string {
  if (Number.isNaN(date.getTime())) return ''
  return intlOf(Intl.DateTimeFormat, locale, { dateStyle: 'full', timeStyle: 'short' }).format(date)
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** How long ago, in words: minutes and hours of the last day, then the date; empty where a date is none. */
export function formatAge(date: Date, now: Date, locale: string): string {
  if (Number.isNaN(date.getTime())) return ''
  const ageMs = now.getTime() - date.getTime()
  const relative = intlOf(Intl.RelativeTimeFormat, locale, { numeric: 'auto', style: 'short' })
  // A clock that is off by minutes makes no post of the future.
  if (ageMs < minuteMs && ageMs > -dayMs) return relative.format(0, 'second')
  if (ageMs < hourMs && ageMs >= 0) return relative.format(-Math.floor(ageMs / minuteMs), 'minute')
  if (ageMs < dayMs && ageMs >= 0) return relative.format(-Math.floor(ageMs / hourMs), 'hour')
  const year = date.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  return intlOf(Intl.DateTimeFormat, locale, { day: 'numeric', month: 'long', ...year }).format(date)
}

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** A number of bytes in the largest unit of 1000 that fits. */
export function formatBytes(bytes: number, locale: string): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const unit = units[power] ?? 'byte'
  const format = intlOf(Intl.NumberFormat, locale, {
    style: 'unit',
    unit,
    // Short, English has no plural of it.
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power === 0 ? 0 : 1,
  })
  return format.format(bytes / 1000 ** power)
}
