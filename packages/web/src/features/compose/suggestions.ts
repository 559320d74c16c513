import { foldText, listActions, listProfiles } from '@kith/protocol'
import { keepPreviousData, useQuery } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import { shownIdTag } from '#lib/identity.ts'
import { client } from '#platform/client.ts'
import { type Completion, suggestTags } from './completion.ts'

/** What may stand in the place of what is typed. */
export interface Suggestion {
  /** Without its sign. */
  readonly value: string
  readonly name: string
  readonly hasPicture?: boolean
}

const shownAtMost = 6
const pauseMs = 150
// The newest posts tell which tags are in use.
const postsForTags = 200

/** Suggestions for what is being typed, after a pause. */
export function useSuggestions(completion: Completion | undefined): readonly Suggestion[] {
  const kind = completion?.kind
  const query = usePaused(completion?.query ?? '')
  const people = useQuery({
    queryKey: ['compose', 'people', query],
    queryFn: () => findPeople(query),
    enabled: kind === '@',
    placeholderData: keepPreviousData,
  })
  const texts = useQuery({ queryKey: ['compose', 'tags'], queryFn: listTexts, enabled: kind === '#' })
  if (kind === '@') return matching(people.data ?? [], completion?.query ?? '')
  if (kind !== '#' || !texts.data) return []
  return suggestTags(texts.data, completion?.query ?? '', shownAtMost).map((value) => ({
    value,
    name: `#${value}`,
  }))
}

// Those of the query before stand in for the new ones, so that a list one is about to choose from does not vanish.
function matching(people: readonly Suggestion[], typed: string): readonly Suggestion[] {
  const part = foldText(typed)
  return people.filter(({ value, name }) =>
    [shownIdTag(value), value, name].some((word) => foldText(word).includes(part)),
  )
}

/** A text once it no longer changes. */
export function usePaused(value: string): string {
  const [paused, setPaused] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value])
  return paused
}

async function findPeople(q: string): Promise<readonly Suggestion[]> {
  const query = { ...(q === '' ? {} : { q }), limit: shownAtMost }
  const { data } = await client.call(listProfiles, { query })
  return data.map(({ idTag, name, profilePic }) => ({
    value: idTag,
    name: name || idTag,
    hasPicture: profilePic !== undefined,
  }))
}

async function listTexts(): Promise<string[]> {
  const query = { type: ['POST'] as ['POST'], limit: postsForTags }
  const { data } = await client.call(listActions, { query })
  return data.flatMap(({ content }) => (typeof content?.text === 'string' ? content.text : []))
}
