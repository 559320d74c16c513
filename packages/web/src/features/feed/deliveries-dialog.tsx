import type { Action, DeliveryView } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { formatMoment } from '#lib/format.ts'
import { Dialog } from '#ui/dialog.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { deliveriesQuery } from './feed-query.ts'
import styles from './post.module.css'
import { postTexts } from './post-texts.ts'

interface DeliveriesDialogProps {
  readonly post: Pick<Action, 'actionId' | 'createdAt'>
  readonly onClose: () => void
}

/** To which servers a post of one's own has come, and why not to others. */
export function DeliveriesDialog({ post, onClose }: DeliveriesDialogProps) {
  const t = useTexts(postTexts)
  const query = useQuery(deliveriesQuery(post))
  const { data } = query
  const all = data?.data ?? []
  const delivered = all.filter(({ state }) => state === 'delivered').length
  return (
    <Dialog title={t.deliveries} onClose={onClose}>
      <QueryState query={query} heights={[48, 48]} />
      {data && (
        <div class="stack">
          <p>
            {all.length === 0 ? t.deliveriesNone : t.servers(delivered, data.pagination?.total ?? all.length)}
          </p>
          <ul class={styles.deliveries}>
            {all.map((delivery) => (
              <Delivery key={delivery.server} delivery={delivery} />
            ))}
          </ul>
        </div>
      )}
    </Dialog>
  )
}

function Delivery({ delivery }: { readonly delivery: DeliveryView }) {
  const t = useTexts(postTexts)
  const locale = useLocale()
  const { server, recipients, state, lastError, nextAttemptAt } = delivery
  return (
    <li>
      <bdi>
        <strong>{server}</strong>
      </bdi>
      <span>
        {t[`delivery:${state}`]}, {t.recipients(recipients.length)}
      </span>
      {lastError && <bdi class="soft">{lastError}</bdi>}
      {nextAttemptAt && state === 'retrying' && (
        <span class="soft">
          {t.nextTry} {formatMoment(new Date(nextAttemptAt), locale)}
        </span>
      )}
    </li>
  )
}
