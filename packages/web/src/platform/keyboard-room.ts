import { keyboardRoom } from '#lib/keyboard-room.ts'

/** Tells all style sheets what an on-screen keyboard takes: `--keyboard` is its height, `--covered` what it covers of the lower
 * edge of the window. Browsers that make the page smaller for it leave both at 0. What is written stays in sight in either. */
const view = window.visualViewport

// The rest is the head of the page and its bar.
const mostOfView = 0.7

let room = keyboardRoom(0, { height: 0, offsetTop: 0, scale: 1 })
let seen = view?.height ?? 0
let isUp = false
// The field that has the focus, while a keyboard is up.
let isInSight = false

function measure(): void {
  if (!view) return
  const next = keyboardRoom(window.innerHeight, view)
  const { style } = document.documentElement
  // All of the page has its styles worked out anew.
  if (next.height !== room.height) style.setProperty('--keyboard', `${next.height}px`)
  if (next.covered !== room.covered) style.setProperty('--covered', `${next.covered}px`)
  room = next
}

function onResize(): void {
  measure()
  const height = view?.height ?? 0
  if (view?.scale === 1 && height !== seen) isUp = height < seen || room.height > 0
  if (height < seen && view?.scale === 1) showWritten()
  seen = height
}

/** Brings the field that has the focus into what is seen, with the buttons of its form where there is room for all of it. */
function showWritten(): void {
  const field = writtenField()
  if (!field) return
  const form = field.closest('form')
  if (form && form.offsetHeight < mostOfView * (view?.height ?? 0)) form.scrollIntoView({ block: 'nearest' })
  field.scrollIntoView({ block: 'nearest' })
  isInSight = true
}

function writtenField(): HTMLElement | undefined {
  const field = document.activeElement
  return field instanceof HTMLElement && field.matches('input, textarea, select') ? field : undefined
}

function onScroll(): void {
  const field = isUp ? writtenField()?.getBoundingClientRect() : undefined
  if (field) isInSight = field.top >= 0 && field.bottom <= (view?.offsetTop ?? 0) + (view?.height ?? 0)
}

view?.addEventListener('resize', onResize)
// What comes above a field pushes it down; whoever has scrolled away from it is left there.
document.addEventListener('scroll', onScroll, { capture: true, passive: true })
new ResizeObserver(() => isUp && isInSight && showWritten()).observe(document.body)
view?.addEventListener('scroll', measure)
document.addEventListener('focusin', () => room.height > 0 && showWritten())
