import { useId } from 'preact/hooks'
import styles from './choice.module.css'
import { useServerReason } from './use-server-reason.ts'

export interface Option<Value extends string> {
  readonly value: Value
  readonly label: string
  readonly hint?: string
}

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly options: readonly Option<Value>[]
  readonly value: Value
  readonly onChange: (value: Value) => void
  /** Side by side, where there is room. */
  readonly isInRow?: boolean
  /** Cannot be changed while the server cannot be reached. */
  readonly needsServer?: boolean
}

/** One of a few options, all of them in view. */
export function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { label, options, value: chosen, onChange, isInRow = false, needsServer = true } = props
  const why = useServerReason(needsServer)
  const name = useId()
  return (
    <fieldset
      class={[styles.choice, isInRow ? styles.inRow : ''].join(' ')}
      disabled={why !== undefined}
      title={why}
    >
      <legend>{label}</legend>
      {options.map(({ value, label: text, hint }) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            checked={value === chosen}
            onChange={() => onChange(value)}
            aria-label={text}
            aria-describedby={hint ? `${name}-${value}` : undefined}
          />
          <span>
            {text}
            {hint && (
              <span id={`${name}-${value}`} class="soft">
                {hint}
              </span>
            )}
          </span>
        </label>
      ))}
    </fieldset>
  )
}
