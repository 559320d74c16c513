import { Field } from '#ui/field.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'
import { type Draft, localOf, timeProblem } from './draft.ts'

interface PlanFieldsProps {
  readonly draft: Draft
  readonly onChange: (change: Partial<Pick<Draft, 'publishAt' | 'expiresAt'>>) => void
}

/** When the post leaves, and when it is deleted again. */
export function PlanFields({ draft, onChange }: PlanFieldsProps) {
  const t = useTexts(composeTexts)
  const { publishAt, expiresAt } = draft
  const problems = timeProblem(draft, Date.now())
  const now = localOf(Date.now() / 1000)
  return (
    <details class={styles.plan} open={publishAt !== '' || expiresAt !== ''}>
      <summary>{t.plan}</summary>
      <div class={styles.times}>
        <Field
          label={t.publishAt}
          hint={t.publishAtHint}
          type="datetime-local"
          min={now}
          value={publishAt}
          problem={problems.publishAt && t[problems.publishAt]}
          onInput={(event) => onChange({ publishAt: event.currentTarget.value })}
        />
        <Field
          label={t.expiresAt}
          hint={t.expiresAtHint}
          type="datetime-local"
          min={publishAt || now}
          value={expiresAt}
          problem={problems.expiresAt && t[problems.expiresAt]}
          onInput={(event) => onChange({ expiresAt: event.currentTarget.value })}
        />
      </div>
    </details>
  )
}
