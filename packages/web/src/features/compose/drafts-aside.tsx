import { formatMoment } from '#lib/format.ts'
import { excerptOf } from '#lib/shown-text.ts'
import { Link } from '#ui/link.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'
import { draftPath, type ListedDraft, useDrafts } from './use-drafts.ts'

const shownAtMost = 3
const excerptLength = 80

/** What is planned or begun and not shared yet. */
export function DraftsAside() {
  const t = useTexts(composeTexts)
  const { planned, drafts } = useDrafts()
  const all = [...planned, ...drafts]
  if (all.length === 0) return null
  return (
    <section class="stack">
      <h2>{t.drafts}</h2>
      <ul class={styles.glance}>
        {all.slice(0, shownAtMost).map((draft) => (
          <Glance key={draft.id ?? draft.actionId} draft={draft} />
        ))}
      </ul>
      <Link class="line-link" href="/new/drafts">
        {t.allDrafts}
      </Link>
    </section>
  )
}

function Glance({ draft }: { readonly draft: ListedDraft }) {
  const t = useTexts(composeTexts)
  const when = formatMoment(draft.at, useLocale())
  return (
    <li>
      <Link href={draftPath(draft)}>
        <span dir="auto">{excerptOf(draft.text.trim(), excerptLength) || t.noText}</span>
        <small>{draft.isPlanned ? t.plannedFor(when) : t.changed(when)}</small>
      </Link>
    </li>
  )
}
