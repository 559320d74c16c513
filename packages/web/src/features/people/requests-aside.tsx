import { useQuery } from '@tanstack/preact-query'
import { ownIdTag } from '#platform/own-identity.ts'
import { Link } from '#ui/link.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { connectionRequests } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'
import styles from './person-line.module.css'
import { Request } from './requests.tsx'

const shownAtMost = 3

/** Who asks to connect, to be answered in place. */
export function RequestsAside() {
  const t = useTexts(peopleTexts)
  const { data: waiting = [] } = useQuery(connectionRequests(ownIdTag()))
  if (waiting.length === 0) return null
  return (
    <section class="stack">
      <h2>{t.asksYou}</h2>
      <ul class={styles.people} aria-label={t.asksYou}>
        {waiting.slice(0, shownAtMost).map((request) => (
          <Request key={request.actionId} request={request} />
        ))}
      </ul>
      {waiting.length > shownAtMost && (
        <Link class="line-link" href="/people?list=pending">
          {t.allRequests}
        </Link>
      )}
    </section>
  )
}
