import { formatDay } from '#lib/format-day.ts'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { messagesTexts } from './messages-texts.ts'
import styles from './thread.module.css'

/** Above the first message of a day. */
export function DayLine({ date }: { readonly date: Date }) {
  const locale = useLocale()
  return (
    <li class={styles.day}>
      <time dateTime={date.toISOString().slice(0, 10)}>{formatDay(date, new Date(), locale)}</time>
    </li>
  )
}

/** Above the first message that was unread when the conversation was opened. */
export function UnreadLine() {
  const t = useTexts(messagesTexts)
  return (
    <li class={styles.unread} data-unread="">
      <span>{t.newMessages}</span>
    </li>
  )
}
