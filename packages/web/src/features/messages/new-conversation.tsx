import { listProfiles, type Profile } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { client } from '#platform/client.ts'
import { Avatar } from '#ui/avatar.tsx'
import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { Field } from '#ui/field.tsx'
import { Icon } from '#ui/icon.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { ChosenPeople, type Person } from './chosen-people.tsx'
import { groupPath } from './group-path.ts'
import { LookUp } from './look-up.tsx'
import { messagesTexts } from './messages-texts.ts'
import styles from './new-conversation.module.css'

const shownPeople = 8
// As many as one message names.
const mostPeople = 50

/** Asks to whom one wants to write: people one knows by name, everybody by identity; one, or several together. */
export function NewConversation({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(messagesTexts)
  const [, navigate] = useLocation()
  const [asked, setAsked] = useState('')
  const [chosen, setChosen] = useState<readonly Person[]>()
  const people = usePeople(asked)
  const leaveTo = (idTags: readonly string[]) => {
    onClose()
    navigate(groupPath(idTags))
  }
  const choose = (person: Person) => {
    if (!chosen) return leaveTo([person.idTag])
    setChosen(toggled(chosen, person).slice(0, mostPeople))
    setAsked('')
  }
  const idTag = asked.includes('.') ? asked.replace(/^@/, '').toLowerCase() : undefined
  return (
    <Dialog title={t.start} onClose={onClose}>
      <div class="stack">
        {!chosen && (
          <div>
            <Button icon="users" onClick={() => setChosen([])}>
              {t.several}
            </Button>
          </div>
        )}
        {chosen && <ChosenPeople people={chosen} onRemove={choose} />}
        <Field
          label={t.to}
          hint={t.toHint}
          type="search"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={asked}
          onInput={(event) => setAsked(event.currentTarget.value.trim().slice(0, 100))}
        />
        <QueryState query={people} heights={[48, 48]} />
        {people.data && <People people={people.data} chosen={chosen} onChoose={choose} />}
        {people.data?.length === 0 && asked !== '' && idTag === undefined && <p class="soft">{t.noMatch}</p>}
        {idTag !== undefined && !people.data?.some((one) => one.idTag === idTag) && (
          <LookUp key={idTag} idTag={idTag} onFound={choose} />
        )}
        {chosen && (
          <Button
            kind="primary"
            icon="message-circle"
            disabledWhy={chosen.length === 0 ? t.chooseSeveral : undefined}
            onClick={() => leaveTo(chosen.map((one) => one.idTag))}
          >
            {t.writeTo(chosen.length)}
          </Button>
        )}
      </div>
    </Dialog>
  )
}

function usePeople(asked: string) {
  return useQuery({
    queryKey: ['messages', 'people', asked],
    queryFn: async ({ signal }) => {
      const query = { limit: shownPeople, type: 'person', ...(asked === '' ? {} : { q: asked }) } as const
      return (await client.call(listProfiles, { query }, { signal })).data
    },
    placeholderData: (before) => before,
  })
}

function toggled(chosen: readonly Person[], person: Person): readonly Person[] {
  const others = chosen.filter(({ idTag }) => idTag !== person.idTag)
  return others.length < chosen.length ? others : [...chosen, person]
}

interface PeopleProps {
  readonly people: readonly Profile[]
  /** Where several are chosen. */
  readonly chosen: readonly Person[] | undefined
  readonly onChoose: (person: Person) => void
}

function People({ people, chosen, onChoose }: PeopleProps) {
  return (
    <ul class={styles.people}>
      {people.map((person) => {
        const { idTag, name, profilePic } = person
        const isChosen = chosen?.some((one) => one.idTag === idTag)
        return (
          <li key={idTag}>
            <button
              type="button"
              class={styles.person}
              aria-pressed={isChosen}
              onClick={() => onChoose(person)}
            >
              <Avatar idTag={idTag} name={name} hasPicture={profilePic !== undefined} />
              <span>
                <bdi>{name}</bdi>
                <span class="soft">{idTag}</span>
              </span>
              {isChosen && <Icon name="check" />}
            </button>
          </li>
        )
      })}
    </ul>
  )
}
