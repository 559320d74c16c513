import { useId } from 'preact/hooks'
import styles from './switch.module.css'
import { useServerReason } from './use-server-reason.ts'

interface SwitchProps {
  readonly label: string
  readonly hint?: string
  readonly isOn: boolean
  /** Cannot be changed while the server cannot be reached. */
  readonly needsServer?: boolean
  readonly onChange: (isOn: boolean) => void
}

/** Something that is on or off, changed at once. */
export function Switch({ label, hint: about, isOn, needsServer = true, onChange }: SwitchProps) {
  const id = useId()
  const why = useServerReason(needsServer)
  const hint = why ?? about
  return (
    <label class={styles.switch} for={id}>
      <span>
        {label}
        {hint && (
          <span id={`${id}-hint`} class="soft">
            {hint}
          </span>
        )}
      </span>
      <input
        id={id}
        type="checkbox"
        aria-label={label}
        aria-describedby={hint ? `${id}-hint` : undefined}
        checked={isOn}
        disabled={why !== undefined}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    </label>
  )
}
