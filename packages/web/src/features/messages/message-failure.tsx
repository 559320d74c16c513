import type { DeliveryView } from '@kith/protocol'
import { shownIdTag } from '#lib/identity.ts'
import { useTexts } from '#ui/use-texts.ts'
import { isRefusal } from './deliveries-query.ts'
import { messagesTexts } from './messages-texts.ts'
import styles from './thread.module.css'

/** To whom an own message did not come, and why. */
export function MessageFailure({ deliveries }: { readonly deliveries: readonly DeliveryView[] }) {
  const t = useTexts(messagesTexts)
  return (
    <div class={styles.failed} role="alert">
      {deliveries.map((delivery) => (
        <span key={delivery.server}>
          {isRefusal(delivery)
            ? t.takenFromKnown(delivery.recipients.map(shownIdTag).join(', '))
            : t.stoppedAt(delivery.server)}
        </span>
      ))}
    </div>
  )
}
