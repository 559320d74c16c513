import { options } from 'preact'

/** Renders what follows from a change at once: for what the browser looks at when the listener of an event returns. */
export function renderNow(change: () => void): void {
  const { debounceRendering } = options
  options.debounceRendering = (render) => render()
  try {
    change()
  } finally {
    Object.assign(options, { debounceRendering })
  }
}
