import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Completion, complete, findCompletion } from './completion.ts'
import { type Suggestion, useSuggestions } from './suggestions.ts'

/** The state of a text field with a list of suggestions (ARIA: list autocomplete; the focus stays in the text). */
export function useCombobox(
  field: RefObject<HTMLTextAreaElement>,
  text: string,
  onChange: (text: string) => void,
) {
  const [completion, setCompletion] = useState<Completion>()
  const [active, setActive] = useState(0)
  const caretAfter = useRef<number>()
  const suggestions = useSuggestions(completion)
  useLayoutEffect(() => {
    if (caretAfter.current === undefined) return
    field.current?.setSelectionRange(caretAfter.current, caretAfter.current)
    caretAfter.current = undefined
  }, [text])
  const look = () => {
    const { value = '', selectionStart = 0, selectionEnd = 0 } = field.current ?? {}
    setActive(0)
    setCompletion(selectionStart === selectionEnd ? findCompletion(value, selectionStart) : undefined)
  }
  const choose = ({ value }: Suggestion) => {
    if (!completion) return
    const { text: next, caret } = complete(field.current?.value ?? text, completion, value)
    caretAfter.current = caret
    setCompletion(undefined)
    onChange(next)
    field.current?.focus()
  }
  const close = () => setCompletion(undefined)
  /** Whether a key was for the list. */
  const takeKey = ({ key, isComposing }: KeyboardEvent): boolean => {
    const { length } = suggestions
    if (isComposing || length === 0) return false
    const chosen = suggestions[Math.min(active, length - 1)]
    if (key === 'ArrowDown') setActive((active + 1) % length)
    else if (key === 'ArrowUp') setActive((active + length - 1) % length)
    else if (key === 'Escape') close()
    else if ((key === 'Enter' || key === 'Tab') && chosen) choose(chosen)
    else return false
    return true
  }
  return { suggestions, active: Math.min(active, suggestions.length - 1), look, choose, close, takeKey }
}
