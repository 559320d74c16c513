import { KithError } from '@kith/client'
import { type IdTag, type Profile, parseIdTag } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { shownIdTag } from '#lib/identity.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { Empty } from '#ui/empty.tsx'
import { Field } from '#ui/field.tsx'
import { Loading } from '#ui/loading.tsx'
import { Problem } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { PeopleList } from './people-list.tsx'
import { profileList, profileOf } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'
import line from './person-line.module.css'
import { PersonLine } from './person-line.tsx'
import styles from './person-search.module.css'
import { usePaused } from './use-paused.ts'

interface PersonSearchProps {
  readonly text: string
  readonly onText: (text: string) => void
  /** Only of this type. */
  readonly type?: Profile['type']
  readonly label?: string
  readonly hint?: string
}

/** The field for names and identities. Whoever is known here is found while one types; a full identity is looked up at its
 * server when that is asked for. */
export function PersonSearch({ text, onText, type, label, hint }: PersonSearchProps) {
  const t = useTexts(peopleTexts)
  const [asked, setAsked] = useState<IdTag>()
  const idTag = fullIdentity(text)
  const settled = usePaused(text.trim())
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    setAsked(idTag)
  }
  return (
    <>
      <search>
        <form class={styles.form} onSubmit={submit}>
          <Field
            label={label ?? t.search}
            hint={hint ?? t.searchHint}
            type="search"
            value={text}
            maxLength={100}
            autocapitalize="none"
            autocomplete="off"
            spellcheck={false}
            enterkeyhint="search"
            onInput={(event) => onText(event.currentTarget.value)}
          />
          {idTag && (
            <Button needsServer type="submit" icon="globe">
              {t.lookUp}
            </Button>
          )}
        </form>
      </search>
      {asked && asked === idTag && <LookedUp idTag={asked} onCancel={() => setAsked(undefined)} />}
      {settled !== '' && text.trim() !== '' && (
        <PeopleList
          list={profileList({ q: settled, ...(type ? { type } : {}) })}
          label={label ?? t.search}
          empty={
            asked !== undefined && asked === idTag ? null : (
              <Empty icon="search" title={t.noMatch}>
                {t.noMatchWhy}
              </Empty>
            )
          }
        />
      )}
    </>
  )
}

function LookedUp({ idTag, onCancel }: { readonly idTag: IdTag; readonly onCancel: () => void }) {
  const t = useTexts(peopleTexts)
  const options = profileOf(idTag)
  const found = useQuery(options)
  const shown = shownIdTag(idTag)
  if (found.isPending)
    return (
      <div class={styles.asking}>
        <div class={styles.wait} role="status">
          {t.asking(shown)}
        </div>
        <Button
          onClick={() => {
            void queries.cancelQueries(options)
            onCancel()
          }}
        >
          {t.cancel}
        </Button>
        <Loading heights={[73]} />
      </div>
    )
  if (found.error) {
    const code = found.error instanceof KithError ? found.error.code : undefined
    if (code === 'E-PROFILE-NOTFOUND') return <Empty icon="user-x" title={t.notFound(shown)} />
    const what = code === 'E-UNAVAILABLE' ? { what: t.unreachable(shown) } : {}
    return <Problem error={found.error} {...what} onAgain={() => void found.refetch()} />
  }
  return (
    <ul class={line.people} aria-label={t.lookUp}>
      <PersonLine person={found.data} />
    </ul>
  )
}

/** The identity that a text is; undefined for a name or a part of one. */
function fullIdentity(text: string): IdTag | undefined {
  return text.includes('.') ? parseIdTag(text.trim().replace(/^@/, '')) : undefined
}
