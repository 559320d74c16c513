import type { Profile } from '@kith/protocol'
import { Button } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { messagesTexts } from './messages-texts.ts'
import styles from './new-conversation.module.css'

export type Person = Pick<Profile, 'idTag' | 'name'>

interface ChosenPeopleProps {
  readonly people: readonly Person[]
  readonly onRemove: (person: Person) => void
}

/** Who will take part in a conversation, each to be taken out again. */
export function ChosenPeople({ people, onRemove }: ChosenPeopleProps) {
  const t = useTexts(messagesTexts)
  if (people.length === 0) return <p class="soft">{t.chooseSeveral}</p>
  return (
    <ul class={styles.chosen} aria-label={t.participants}>
      {people.map((person) => (
        <li key={person.idTag}>
          <Button icon="x" aria-label={t.takeOut(nameOf(person))} onClick={() => onRemove(person)}>
            <bdi>{nameOf(person)}</bdi>
          </Button>
        </li>
      ))}
    </ul>
  )
}

function nameOf({ idTag, name }: Person): string {
  return name.trim() || idTag
}
