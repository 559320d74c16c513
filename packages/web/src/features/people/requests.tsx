import type { Action } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { shownName } from '#lib/identity.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { Button } from '#ui/button.tsx'
import { Empty } from '#ui/empty.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { PeopleList } from './people-list.tsx'
import { connectionRequests, peopleLists, profileList } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'
import styles from './person-line.module.css'
import { PersonLine } from './person-line.tsx'
import { useAnswer } from './use-answer.ts'

/** The requests that wait for one's own answer, then those that wait for another's. */
export function Requests() {
  const t = useTexts(peopleTexts)
  const requests = useQuery(connectionRequests(ownIdTag()))
  const state = <QueryState query={requests} heights={[120, 73]} />
  if (requests.isPending) return state
  const waiting = requests.data ?? []
  const issuers = new Set(waiting.map(({ issuerTag }) => issuerTag))
  return (
    <>
      {state}
      {waiting.length > 0 && (
        <section class="stack">
          <h2>{t.asksYou}</h2>
          <ul class={styles.people}>
            {waiting.map((request) => (
              <Request key={request.actionId} request={request} />
            ))}
          </ul>
        </section>
      )}
      <section class="stack">
        {waiting.length > 0 && <h2>{t.youAsked}</h2>}
        <PeopleList
          list={profileList(peopleLists.pending)}
          label={t.youAsked}
          without={issuers}
          empty={
            waiting.length > 0 ? (
              <p class="soft">{t['empty:pending']}</p>
            ) : (
              <Empty icon="user-plus" title={t['empty:pending']}>
                {t['why:pending']}
              </Empty>
            )
          }
        />
      </section>
    </>
  )
}

/** A request that waits for one's own answer, in a list. */
export function Request({ request }: { readonly request: Action }) {
  const { issuer, content } = request
  const name = shownName(issuer.name, issuer.idTag)
  const message = typeof content?.message === 'string' ? content.message : undefined
  const person = {
    idTag: issuer.idTag,
    name: issuer.name,
    ...(issuer.profilePic && { profilePic: issuer.profilePic }),
  }
  return (
    <PersonLine person={person} note={message}>
      <AnswerButtons request={request} name={name} />
    </PersonLine>
  )
}

/** Accepts or refuses a request for a connection. */
export function AnswerButtons({ request, name }: { readonly request: Action; readonly name: string }) {
  const t = useTexts(peopleTexts)
  const answer = useAnswer(ownIdTag())
  return (
    <>
      <Button
        kind="primary"
        icon="check"
        aria-label={t.acceptNamed(name)}
        isBusy={answer.isPending}
        onClick={() => answer.mutate({ request, verdict: 'accept' })}
      >
        {t.accept}
      </Button>
      <Button
        aria-label={t.refuseNamed(name)}
        isBusy={answer.isPending}
        onClick={() => answer.mutate({ request, verdict: 'reject' })}
      >
        {t.refuse}
      </Button>
    </>
  )
}
