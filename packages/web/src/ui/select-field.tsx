import { useId } from 'preact/hooks'
import styles from './field.module.css'

interface SelectFieldProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [value: Value, text: string])[]
  readonly onValue: (value: Value) => void
}

/** One of a few values in a list that opens, with its label. */
export function SelectField<Value extends string>({
  label,
  value,
  options,
  onValue,
}: SelectFieldProps<Value>) {
  const id = useId()
  return (
    <div class={styles.field}>
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = options.find(([one]) => one === currentTarget.value)
          if (chosen) onValue(chosen[0])
        }}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}
