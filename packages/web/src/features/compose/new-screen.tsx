import { useEffect, useState } from 'preact/hooks'
import { useLocation, useSearch } from 'wouter-preact'
import { ButtonLink } from '#ui/button-link.tsx'
import { Empty } from '#ui/empty.tsx'
import { Link } from '#ui/link.tsx'
import { Loading } from '#ui/loading.tsx'
import { Problem } from '#ui/problem.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'
import { Composer } from './composer.tsx'
import { draftStore, releaseDraft } from './drafts.ts'
import { openDraft } from './open-draft.ts'

/** Writes a post: `/new`, a draft (`?draft=`, `?action=`), a post again (`?again=`), about a post (`?quote=`), for a community (`?to=`), with files
 * that are there (`?files=`), of what another program has shared (`?shared=`). */
export function NewScreen() {
  const t = useTexts(composeTexts)
  const { id, error, isElsewhere, again } = useOpened()
  return (
    <div class="stack">
      <header class={styles.head}>
        <ScreenTitle>{t.title}</ScreenTitle>
        <Link href="/new/drafts">{t.drafts}</Link>
      </header>
      {error !== undefined && <Problem error={error} onAgain={again} />}
      {isElsewhere && (
        <Empty icon="copy" title={t.elsewhere} step={<ButtonLink href="/new">{t.write}</ButtonLink>} />
      )}
      {id === undefined ? (
        error === undefined && !isElsewhere && <Loading heights={[480]} />
      ) : (
        <Open key={id} id={id} />
      )}
    </div>
  )
}

function Open({ id }: { readonly id: string }) {
  const draft = useStore(draftStore(id))
  useEffect(
    () => () => {
      // What is on its way stays with this tab.
      if (draftStore(id).get()?.leavesAt === undefined) releaseDraft(id)
    },
    [id],
  )
  return draft ? <Composer draft={draft} /> : null
}

interface Opened {
  readonly id?: string
  readonly error?: unknown
  readonly isElsewhere?: boolean
}

/** The draft that the address means; its own address then stands there, so that a reload finds it. */
function useOpened() {
  const search = useSearch()
  const [, navigate] = useLocation()
  const [opened, setOpened] = useState<Opened>({})
  const [attempt, setAttempt] = useState(0)
  const open = async (isLeft: () => boolean) => {
    const query = new URLSearchParams(search)
    if (opened.id !== undefined && query.get('draft') === opened.id && draftStore(opened.id).get()) return
    try {
      const id = await openDraft(query)
      if (isLeft()) return id !== undefined && id !== opened.id && releaseDraft(id)
      if (id === undefined) return setOpened({ isElsewhere: true })
      setOpened({ id })
      navigate(`/new?draft=${id}`, { replace: true })
    } catch (error) {
      if (!isLeft()) setOpened({ error })
    }
  }
  useEffect(() => {
    let isLeft = false
    void open(() => isLeft)
    return () => {
      isLeft = true
    }
  }, [search, attempt])
  return { ...opened, again: () => setAttempt(attempt + 1) }
}
