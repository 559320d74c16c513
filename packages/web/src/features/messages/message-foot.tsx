import { formatMoment } from '#lib/format.ts'
import { formatTime } from '#lib/format-day.ts'
import { Icon } from '#ui/icon.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { messagesTexts } from './messages-texts.ts'
import styles from './thread.module.css'

interface MessageFootProps {
  readonly createdAt: string
  /** What has become of an own message. */
  readonly tick: 'waiting' | 'sent' | 'seen' | 'undelivered' | undefined
}

const icons = { waiting: 'clock', sent: 'check', seen: 'check-check', undelivered: 'circle-alert' } as const

/** The time of a message, and of an own one how far it has come. */
export function MessageFoot({ createdAt, tick }: MessageFootProps) {
  const t = useTexts(messagesTexts)
  const locale = useLocale()
  const date = new Date(createdAt)
  return (
    <span class={styles.foot}>
      <time dateTime={createdAt} title={formatMoment(date, locale)}>
        {formatTime(date, locale)}
      </time>
      {tick && (
        <span title={t[tick]}>
          <Icon name={icons[tick]} />
          <span class="visually-hidden">{t[tick]}</span>
        </span>
      )}
    </span>
  )
}
