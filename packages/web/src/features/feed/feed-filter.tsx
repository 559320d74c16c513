import { useQuery } from '@tanstack/preact-query'
import { useId } from 'preact/hooks'
import { shownName } from '#lib/identity.ts'
import { useTexts } from '#ui/use-texts.ts'
import { communitiesQuery } from './feed-query.ts'
import type { FeedFilter } from './feed-rows.ts'
import { feedTexts } from './feed-texts.ts'
import styles from './home-screen.module.css'

interface FeedFilterProps {
  readonly of: FeedFilter
  readonly onChange: (of: FeedFilter) => void
}

/** Whose posts the feed shows. */
export function FeedFilterField({ of, onChange }: FeedFilterProps) {
  const t = useTexts(feedTexts)
  const id = useId()
  const { data: communities = [] } = useQuery(communitiesQuery)
  const isOther = of !== 'all' && of !== 'people' && !communities.some(({ idTag }) => idTag === of)
  return (
    <span class={styles.filter}>
      <label for={id}>{t.show}</label>
      <select id={id} value={of} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="all">{t['of:all']}</option>
        <option value="people">{t['of:people']}</option>
        {communities.map(({ idTag, name }) => (
          <option key={idTag} value={idTag}>
            {shownName(name, idTag)}
          </option>
        ))}
        {isOther && <option value={of}>{of}</option>}
      </select>
    </span>
  )
}
