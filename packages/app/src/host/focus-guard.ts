// Nobody goes on to an element of the page and then clicks in the frame as quickly as this, several times.
const quickMs = 700
const mostThefts = 3
const withinMs = 10_000

/** Watches over the keyboard. When the frame takes the focus out of a modal dialog of the page, or just when it has come to the page, the
 * focus goes back; `onTheft` is called when that happens again and again. Returns a function that ends the watch. */
export function guardFocus(frame: HTMLIFrameElement, onTheft: () => void): () => void {
  let last: HTMLElement | undefined
  let focusedMs = Number.NEGATIVE_INFINITY
  let theftsMs: number[] = []
  const ending = new AbortController()
  const { signal } = ending
  const onFocus = ({ target }: Event) => {
    if (target === frame || !(target instanceof HTMLElement)) return
    last = target
    focusedMs = performance.now()
  }
  // Who presses Tab or clicks here may well be on the way into the frame.
  const onInput = (event: Event) => {
    if (!(event instanceof KeyboardEvent) || event.key === 'Tab') focusedMs = Number.NEGATIVE_INFINITY
  }
  // The focus goes back to where it was before the dialog: nobody has moved it there to type.
  const onClose = ({ target }: Event) => {
    if (target instanceof HTMLDialogElement) focusedMs = Number.NEGATIVE_INFINITY
  }
  const onBlur = () => {
    const now = performance.now()
    const isInDialog = last?.closest('dialog:modal') != null
    if (document.activeElement !== frame || (!isInDialog && now - focusedMs > quickMs)) return
    theftsMs = [...theftsMs.filter((ms) => now - ms < withinMs), now]
    if (theftsMs.length === mostThefts) onTheft()
    // The browser is still moving it.
    setTimeout(() => takeBack(frame, last))
  }
  window.addEventListener('focusin', onFocus, { signal })
  window.addEventListener('pointerdown', onInput, { signal, capture: true })
  window.addEventListener('keydown', onInput, { signal, capture: true })
  window.addEventListener('close', onClose, { signal, capture: true })
  window.addEventListener('blur', onBlur, { signal })
  return () => ending.abort()
}

function takeBack(frame: HTMLIFrameElement, element: HTMLElement | undefined): void {
  frame.blur()
  window.focus()
  element?.focus()
}
