import { Avatar } from '#ui/avatar.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'
import type { Suggestion } from './suggestions.ts'

interface SuggestionListProps {
  readonly id: string
  readonly suggestions: readonly Suggestion[]
  readonly active: number
  readonly onChoose: (suggestion: Suggestion) => void
}

/** The list below the text; its field has the focus and names the active entry. */
export function SuggestionList({ id, suggestions, active, onChoose }: SuggestionListProps) {
  const t = useTexts(composeTexts)
  return (
    <div id={`${id}-list`} role="listbox" aria-label={t.suggestions} class={styles.suggestions}>
      {suggestions.map((suggestion, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text field takes the keys
        // biome-ignore lint/a11y/useFocusableInteractive: the text field names the active entry
        <div
          key={suggestion.value}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(suggestion)}
        >
          {suggestion.hasPicture !== undefined && (
            <Avatar
              idTag={suggestion.value}
              name={suggestion.name}
              hasPicture={suggestion.hasPicture}
              size={32}
            />
          )}
          <span>
            <bdi>{suggestion.name}</bdi>
            {suggestion.hasPicture !== undefined && <span class="soft"> @{suggestion.value}</span>}
          </span>
        </div>
      ))}
    </div>
  )
}
