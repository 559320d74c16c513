import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useSearchParams } from 'wouter-preact'
import { ownIdTag } from '#platform/own-identity.ts'
import { Button } from '#ui/button.tsx'
import { ButtonLink } from '#ui/button-link.tsx'
import { Empty } from '#ui/empty.tsx'
import type { IconName } from '#ui/icon-names.ts'
import { LinkTabs } from '#ui/link-tabs.tsx'
import { Refresh } from '#ui/refresh.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { peopleKey } from './people-keys.ts'
import { PeopleList } from './people-list.tsx'
import {
  connectionRequests,
  type PeopleList as ListName,
  ownProfile,
  peopleLists,
  profileList,
} from './people-query.ts'
import styles from './people-screen.module.css'
import { peopleTexts } from './people-texts.ts'
import line from './person-line.module.css'
import { PersonLine } from './person-line.tsx'
import { PersonSearch } from './person-search.tsx'
import { Requests } from './requests.tsx'

const listNames = Object.keys(peopleLists) as ListName[]
const icons: Readonly<Record<ListName, IconName>> = {
  connections: 'user-check',
  pending: 'user-plus',
  following: 'users',
  followers: 'users',
  blocked: 'user-x',
  muted: 'volume-x',
}

/** Those with whom something holds, and the search for others. */
export function PeopleScreen() {
  const t = useTexts(peopleTexts)
  const [parameters] = useSearchParams()
  const [text, setText] = useState('')
  const wanted = parameters.get('list')
  const shown = listNames.find((name) => name === wanted) ?? 'connections'
  const waiting = useQuery(connectionRequests(ownIdTag())).data?.length
  return (
    <div class="stack">
      <div class={styles.head}>
        <ScreenTitle>{t.people}</ScreenTitle>
        <Refresh of={[peopleKey]} isLive />
        <ButtonLink href="/communities" icon="network">
          {t.toCommunities}
        </ButtonLink>
      </div>
      <PersonSearch text={text} onText={setText} />
      {text.trim() === '' && (
        <>
          <Own />
          <LinkTabs
            label={t.lists}
            current={hrefOf(shown)}
            tabs={listNames.map((name) => ({
              href: hrefOf(name),
              text: t[name],
              ...(name === 'pending' ? { count: waiting } : {}),
            }))}
          />
          {shown === 'pending' ? <Requests /> : <Listed name={shown} />}
        </>
      )}
    </div>
  )
}

function hrefOf(name: ListName): string {
  return name === 'connections' ? '/people' : `/people?list=${name}`
}

function Listed({ name }: { readonly name: Exclude<ListName, 'pending'> }) {
  const t = useTexts(peopleTexts)
  const isOfOthers = name === 'connections' || name === 'following'
  const search = () => document.querySelector<HTMLInputElement>('main input[type=search]')?.focus()
  return (
    <PeopleList
      key={name}
      list={profileList(peopleLists[name])}
      label={t[name]}
      empty={
        <Empty
          icon={icons[name]}
          title={t[`empty:${name}`]}
          step={
            isOfOthers && (
              <Button kind="primary" icon="search" onClick={search}>
                {t.findSomebody}
              </Button>
            )
          }
        >
          {t[`why:${name}`]}
        </Empty>
      }
    />
  )
}

function Own() {
  const t = useTexts(peopleTexts)
  const { data: me } = useQuery(ownProfile)
  if (!me) return <div class={styles.ownPlace} />
  return (
    <ul class={line.people} aria-label={t.you}>
      <PersonLine person={me} note={t.you} />
    </ul>
  )
}
