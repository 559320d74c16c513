import { ButtonLink } from '#ui/button-link.tsx'
import { Empty } from '#ui/empty.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { composeTexts } from './compose-texts.ts'
import { DraftItem } from './draft-item.tsx'
import { type ListedDraft, useDrafts } from './use-drafts.ts'

/** What is not shared yet: drafts of this browser and of the server, and planned posts. */
export function DraftsScreen() {
  const t = useTexts(composeTexts)
  const { drafts, planned, list, remove } = useDrafts()
  return (
    <div class="stack">
      <ScreenTitle>{t.drafts}</ScreenTitle>
      <QueryState query={list} heights={[96, 96, 96]} />
      {list.data && drafts.length + planned.length === 0 && (
        <Empty icon="pencil" title={t.draftsEmpty} step={<ButtonLink href="/new">{t.write}</ButtonLink>}>
          {t.draftsEmptyWhy}
        </Empty>
      )}
      <DraftSection title={t.planned} drafts={planned} onRemove={remove} />
      <DraftSection title={t.begun} drafts={drafts} onRemove={remove} />
    </div>
  )
}

interface DraftSectionProps {
  readonly title: string
  readonly drafts: readonly ListedDraft[]
  readonly onRemove: (draft: ListedDraft) => Promise<void>
}

function DraftSection({ title, drafts, onRemove }: DraftSectionProps) {
  if (drafts.length === 0) return null
  return (
    <section class="stack" aria-label={title}>
      <h2>{title}</h2>
      {drafts.map((draft) => (
        <DraftItem key={draft.id ?? draft.actionId} draft={draft} onRemove={() => onRemove(draft)} />
      ))}
    </section>
  )
}
