import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import styles from './field.module.css'

interface TextAreaProps extends Omit<JSX.IntrinsicElements['textarea'], 'label'> {
  readonly label: string
  readonly hint?: string
}

/** Several lines of text with their label and a hint. */
export function TextArea({ label, hint, ...input }: TextAreaProps) {
  const id = useId()
  return (
    <div class={styles.field}>
      <label for={id}>{label}</label>
      {hint && (
        <p id={`${id}-hint`} class="soft">
          {hint}
        </p>
      )}
      <textarea rows={3} {...input} id={id} aria-describedby={hint ? `${id}-hint` : undefined} />
    </div>
  )
}
