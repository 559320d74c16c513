import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import styles from './field.module.css'

interface FieldProps extends Omit<JSX.IntrinsicElements['input'], 'label'> {
  readonly label: string
  readonly hint?: string
  /** What is wrong with it, beside it. */
  readonly problem?: string | undefined
}

/** An input with its label, a hint, and what is wrong with it. */
export function Field({ label, hint, problem, ...input }: FieldProps) {
  const id = useId()
  const about = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div class={styles.field}>
      <label for={id}>{label}</label>
      {hint && (
        <p id={`${id}-hint`} class="soft">
          {hint}
        </p>
      )}
      <input
        {...input}
        id={id}
        aria-describedby={about || undefined}
        aria-invalid={problem ? 'true' : undefined}
      />
      {problem && (
        <p id={`${id}-problem`} class={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
