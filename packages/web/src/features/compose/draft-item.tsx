import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { formatMoment } from '#lib/format.ts'
import { excerptOf } from '#lib/shown-text.ts'
import { Button } from '#ui/button.tsx'
import { Problem } from '#ui/problem.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'
import { draftPath, type ListedDraft } from './use-drafts.ts'

const excerptLength = 200

interface DraftItemProps {
  readonly draft: ListedDraft
  readonly onRemove: () => Promise<void>
}

/** A draft or planned post in the list. */
export function DraftItem({ draft, onRemove }: DraftItemProps) {
  const t = useTexts(composeTexts)
  const locale = useLocale()
  const [, navigate] = useLocation()
  const [error, setError] = useState<unknown>()
  const { text, files, at, isPlanned } = draft
  const excerpt = excerptOf(text.trim(), excerptLength) || t.noText
  const when = formatMoment(at, locale)
  return (
    <article class={`card ${styles.item}`}>
      <p class={styles.excerpt} dir="auto">
        {excerpt}
      </p>
      <p class="soft">
        {isPlanned ? t.plannedFor(when) : t.changed(when)}
        {files > 0 && `, ${t.files(files)}`}
      </p>
      <div class="row">
        <Button icon="pencil" aria-label={t.openDraft(excerpt)} onClick={() => navigate(draftPath(draft))}>
          {t.edit}
        </Button>
        <Button
          needsServer
          kind="quiet"
          icon="trash-2"
          aria-label={t.deleteDraft(excerpt)}
          onClick={() => onRemove().catch(setError)}
        >
          {t.delete}
        </Button>
      </div>
      {error !== undefined && <Problem error={error} />}
    </article>
  )
}
