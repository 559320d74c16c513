import type { Profile } from '@kith/protocol'
import { useInfiniteQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { shownName } from '#lib/identity.ts'
import { Button } from '#ui/button.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useNextPage } from '#ui/use-next-page.ts'
import { useTexts } from '#ui/use-texts.ts'
import { WindowList } from '#ui/window-list.tsx'
import type { profileList } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'
import styles from './person-line.module.css'
import { PersonParts } from './person-line.tsx'

interface PeopleListProps {
  readonly list: ReturnType<typeof profileList>
  /** What the list is of. */
  readonly label: string
  /** Without these. */
  readonly without?: ReadonlySet<string>
  /** Where there is nobody. */
  readonly empty: ComponentChildren
}

const nobody: ReadonlySet<string> = new Set()
const idTagOf = ({ idTag }: Profile) => idTag
const nameOf = ({ name, idTag }: Profile) => shownName(name, idTag)

/** Identities, page by page. */
export function PeopleList({ list, label, without = nobody, empty }: PeopleListProps) {
  const t = useTexts(peopleTexts)
  const people = useInfiniteQuery(list)
  const onEnd = useNextPage(people)
  const all = people.data?.pages.flatMap(({ profiles }) => profiles) ?? []
  const shown = all.filter(({ idTag }) => !without.has(idTag))
  return (
    <>
      <QueryState query={people} heights={[73, 73, 73]} />
      {people.data && shown.length === 0 && !people.hasNextPage && empty}
      {shown.length > 0 && (
        <WindowList
          items={shown}
          keyOf={idTagOf}
          nameOf={nameOf}
          label={label}
          isWhole={!people.hasNextPage}
          estimate={86}
          class={styles.people}
          itemClass={styles.line}
          onEnd={onEnd}
        >
          {(person) => <PersonParts person={person} />}
        </WindowList>
      )}
      {people.hasNextPage && (
        <Button isBusy={people.isFetchingNextPage} onClick={() => void people.fetchNextPage()}>
          {t.more}
        </Button>
      )}
    </>
  )
}
