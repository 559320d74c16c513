import type { Action } from '@kith/protocol'
import { taskOfKey } from '#ui/typed-keys.ts'

interface MessageKeys {
  readonly known: ReadonlyMap<string, Action>
  readonly onChoose: (message: Action) => void
  readonly onAnswer: (message: Action) => void
}

/** Keys in a thread: from message to message, Enter opens what can be done with one, another answers it. */
export function useMessageKeys({ known, onChoose, onAnswer }: MessageKeys) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const list = event.currentTarget as HTMLElement
    const target = event.target as HTMLElement
    if (target !== list && !target.matches('[data-message]')) return
    const message = known.get(target.dataset.message ?? '')
    const task = taskOfKey(event)
    if (task === 'next' || task === 'previous') move(list, target, task === 'next' ? 1 : -1)
    else if (event.key === 'Enter' && message) onChoose(message)
    else if (task === 'answer' && message) onAnswer(message)
    else return
    event.preventDefault()
  }
  return { onKeyDown }
}

/** From the list itself to the newest message, then by one. */
function move(list: HTMLElement, from: HTMLElement, by: 1 | -1): void {
  const all = [...list.querySelectorAll<HTMLElement>('[data-message]')]
  const at = all.indexOf(from)
  const next = at < 0 ? all.at(-1) : all[at + by]
  next?.focus()
}
