import { hasManyWords, maxSearchWords } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useEffect, useId, useState } from 'preact/hooks'
import { useSearchParams } from 'wouter-preact'
import { Empty } from '#ui/empty.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { filesWith, peopleWith, postsWith } from './search-queries.ts'
import { FileHits, LookUp, PersonHits, PostHits } from './search-results.tsx'
import styles from './search-screen.module.css'
import { searchText, wholeIdTag } from './search-terms.ts'
import { searchTexts } from './search-texts.ts'

// Long enough that a word is not asked for letter by letter.
const pauseMs = 150

/** Finds people, posts and files; the text stands in the address, so that going back finds it again. */
export function SearchScreen() {
  const t = useTexts(searchTexts)
  const [params, setParams] = useSearchParams()
  const [typed, setTyped] = useState(params.get('q') ?? '')
  const asked = searchText(params.get('q') ?? '')
  const fieldId = useId()
  useEffect(() => {
    const timer = setTimeout(() => {
      const q = searchText(typed)
      if (q !== (params.get('q') ?? '')) setParams(q === '' ? {} : { q }, { replace: true })
    }, pauseMs)
    return () => clearTimeout(timer)
  }, [typed, params, setParams])
  return (
    <div class="stack">
      <ScreenTitle>{t.title}</ScreenTitle>
      <search class={styles.search}>
        <label class="visually-hidden" for={fieldId}>
          {t.field}
        </label>
        <input
          id={fieldId}
          type="search"
          placeholder={t.field}
          value={typed}
          enterkeyhint="search"
          autocomplete="off"
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </search>
      {asked === '' ? (
        <Empty icon="search" title={t.start}>
          {t.startWhy}
        </Empty>
      ) : hasManyWords(asked) ? (
        <Empty icon="search" title={t.tooMany}>
          {t.tooManyWhy(maxSearchWords)}
        </Empty>
      ) : (
        <Results asked={asked} />
      )}
    </div>
  )
}

function Results({ asked }: { readonly asked: string }) {
  const t = useTexts(searchTexts)
  const people = useQuery(peopleWith(asked))
  const posts = useQuery(postsWith(asked))
  const files = useQuery(filesWith(asked))
  const idTag = wholeIdTag(asked)
  const all = [people, posts, files]
  const isNothing = all.every(({ data }) => data?.length === 0) && idTag === undefined
  const found = all.reduce((sum, { data }) => sum + (data?.length ?? 0), 0)
  return (
    <div class="stack" aria-busy={all.some(({ isFetching }) => isFetching)}>
      <p class="visually-hidden" role="status">
        {all.some(({ isPending }) => isPending) ? '' : String(found)}
      </p>
      {idTag !== undefined && <LookUp idTag={idTag} />}
      <PersonHits query={people} />
      <PostHits query={posts} />
      <FileHits query={files} />
      {isNothing && (
        <Empty icon="search" title={t.none}>
          {t.noneWhy(asked)}
        </Empty>
      )}
    </div>
  )
}
