import { Button } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { type NotificationFilter, notificationFilters } from './group-notifications.ts'
import styles from './notifications.module.css'
import { notificationsTexts } from './notifications-texts.ts'

const filters = [undefined, ...(Object.keys(notificationFilters) as NotificationFilter[])] as const

interface FilterBarProps {
  readonly chosen: NotificationFilter | undefined
  readonly onChoose: (filter: NotificationFilter | undefined) => void
}

/** Which kinds of notifications are shown. */
export function FilterBar({ chosen, onChoose }: FilterBarProps) {
  const t = useTexts(notificationsTexts)
  return (
    <fieldset class={styles.filters}>
      <legend class="visually-hidden">{t.filter}</legend>
      {filters.map((filter) => (
        <Button key={filter ?? 'all'} aria-pressed={filter === chosen} onClick={() => onChoose(filter)}>
          {t[`filter:${filter ?? 'all'}`]}
        </Button>
      ))}
    </fieldset>
  )
}
