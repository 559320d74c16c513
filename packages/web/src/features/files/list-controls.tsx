import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { IconButton } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { knownTags, type Sort, sorts } from './files-query.ts'
import styles from './files-screen.module.css'
import { filesTexts } from './files-texts.ts'
import type { ListLook } from './list-look.ts'

interface ListControlsProps {
  readonly look: ListLook
  readonly onLook: (look: ListLook) => void
  readonly search: string
  readonly onSearch: (words: string) => void
  readonly tag: string | undefined
  readonly onTag: (tag: string | undefined) => void
  /** Whether words and tags narrow the list. */
  readonly isSearchable: boolean
  /** Whether the list has an order of one's choice. */
  readonly isSortable: boolean
}

/** Search, order and look of a list. */
export function ListControls(props: ListControlsProps) {
  const { look, onLook, search, onSearch, isSearchable, isSortable } = props
  const t = useTexts(filesTexts)
  return (
    <div class={styles.controls}>
      {isSearchable && <SearchField search={search} onSearch={onSearch} />}
      <div class={styles.order}>
        {isSearchable && <TagChoice {...props} />}
        {isSortable && (
          <>
            <select
              aria-label={t.sortBy}
              value={look.sort}
              onChange={(event) => {
                const sort = sorts.find((one): one is Sort => one === event.currentTarget.value) ?? 'name'
                onLook({ ...look, sort, isDescending: sort !== 'name' })
              }}
            >
              {sorts.map((sort) => (
                <option key={sort} value={sort}>
                  {t[sort]}
                </option>
              ))}
            </select>
            <IconButton
              icon={look.isDescending ? 'arrow-down' : 'arrow-up'}
              label={look.isDescending ? t.descending : t.ascending}
              onClick={() => onLook({ ...look, isDescending: !look.isDescending })}
            />
          </>
        )}
        <IconButton
          icon={look.isTiles ? 'list' : 'grid-2x2'}
          label={look.isTiles ? t.asList : t.asTiles}
          onClick={() => onLook({ ...look, isTiles: !look.isTiles })}
        />
      </div>
    </div>
  )
}

/** One of the tags that files have; nothing where none has any. */
function TagChoice({ tag, onTag }: Pick<ListControlsProps, 'tag' | 'onTag'>) {
  const t = useTexts(filesTexts)
  const { data = [] } = useQuery(knownTags)
  const tags = data.map((known) => known.tag)
  const all = tag === undefined || tags.includes(tag) ? tags : [tag, ...tags]
  if (all.length === 0) return null
  return (
    <select
      aria-label={t.tag}
      value={tag ?? ''}
      onChange={({ currentTarget }) => onTag(currentTarget.value === '' ? undefined : currentTarget.value)}
    >
      <option value="">{t.allTags}</option>
      {all.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  )
}

function SearchField({
  search,
  onSearch,
}: {
  readonly search: string
  readonly onSearch: (words: string) => void
}) {
  const t = useTexts(filesTexts)
  const [words, setWords] = useState(search)
  return (
    <search class={styles.searchPlace}>
      <form
        class={styles.search}
        onSubmit={(event) => {
          event.preventDefault()
          onSearch(words.trim())
        }}
      >
        <input
          type="search"
          aria-label={t.search}
          placeholder={t.search}
          maxLength={100}
          value={words}
          onInput={(event) => {
            setWords(event.currentTarget.value)
            if (event.currentTarget.value === '') onSearch('')
          }}
        />
      </form>
    </search>
  )
}
