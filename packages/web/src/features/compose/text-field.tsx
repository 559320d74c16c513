import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useTexts } from '#ui/use-texts.ts'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'
import { lengthOf, maxTextLength } from './draft.ts'
import { SuggestionList } from './suggestion-list.tsx'
import { useCombobox } from './use-combobox.ts'

interface TextFieldProps {
  readonly text: string
  readonly onChange: (text: string) => void
  readonly onFiles: (files: readonly File[]) => void
  /** Ctrl or Cmd with Enter. */
  readonly onSubmit: () => void
}

// Nearer to the end than this, the rest is told.
const toldFrom = 1_000

/** The text of a post, with suggestions for names and tags. */
export function TextField({ text, onChange, onFiles, onSubmit }: TextFieldProps) {
  const t = useTexts(composeTexts)
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const { suggestions, active, look, choose, close, takeKey } = useCombobox(field, text, onChange)
  // Before the field is seen, or what is typed at once is lost.
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.setSelectionRange(text.length, text.length)
  }, [])
  const left = maxTextLength - lengthOf(text)
  const isOpen = suggestions.length > 0
  return (
    <div class={styles.text}>
      <label for={id} class="visually-hidden">
        {t.text}
      </label>
      <textarea
        ref={field}
        id={id}
        dir="auto"
        rows={6}
        value={text}
        placeholder={t.hint}
        aria-invalid={left < 0 ? 'true' : undefined}
        aria-describedby={`${id}-left`}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={isOpen ? `${id}-list` : undefined}
        aria-activedescendant={isOpen ? `${id}-${active}` : undefined}
        onInput={(event) => {
          onChange(event.currentTarget.value)
          look()
        }}
        onClick={look}
        onBlur={close}
        onKeyDown={(event) => {
          if (takeKey(event)) return event.preventDefault()
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit()
        }}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])]
          if (files.length === 0) return
          event.preventDefault()
          onFiles(files)
        }}
      />
      <p role="status" class="visually-hidden">
        {isOpen && t.found(suggestions.length)}
      </p>
      {isOpen && <SuggestionList id={id} suggestions={suggestions} active={active} onChoose={choose} />}
      <p id={`${id}-left`} role="status" class={left < 0 ? styles.bad : 'soft'}>
        {left < 0 ? t.over(-left) : left < toldFrom && t.left(left)}
      </p>
    </div>
  )
}
