import type { Action } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { formatMoment } from '#lib/format.ts'
import { Icon } from '#ui/icon.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { deliveriesOf } from './deliveries-query.ts'
import { messagesTexts } from './messages-texts.ts'
import styles from './thread.module.css'

interface MessageStateProps {
  readonly message: Action
  readonly isSeen: boolean
}

/** How far an own message has come, in words: sent, delivered to which servers, seen. */
export function MessageState({ message, isSeen }: MessageStateProps) {
  const { createdAt, x } = message
  const t = useTexts(messagesTexts)
  const locale = useLocale()
  const { data: deliveries } = useQuery({ ...deliveriesOf(message), staleTime: 0 })
  const moment = (ms: number) => formatMoment(new Date(ms), locale)
  const missing = deliveries?.filter(({ state }) => state !== 'delivered') ?? []
  const ackedAt = typeof x?.ackedAt === 'number' ? x.ackedAt : undefined
  return (
    <ul class={styles.states}>
      <li>
        <Icon name="check" />
        {t.sentAt(moment(Date.parse(createdAt)))}
      </li>
      {deliveries && deliveries.length > 0 && missing.length === 0 && (
        <li>
          <Icon name="check-check" />
          {t.delivered}
        </li>
      )}
      {missing.map(({ server, state, lastError }) => (
        <li key={server}>
          <Icon name={state === 'stopped' ? 'circle-alert' : 'clock'} />
          <span>
            {t[state === 'stopped' ? 'stopped' : 'underWay']} <bdi>{server}</bdi>
            {lastError && <bdi class="soft"> {lastError}</bdi>}
          </span>
        </li>
      ))}
      {isSeen && (
        <li>
          <Icon name="eye" />
          {ackedAt === undefined ? t.seen : t.seenAt(moment(ackedAt * 1000))}
        </li>
      )}
    </ul>
  )
}
