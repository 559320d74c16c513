import type { FileView } from '@kith/protocol'
import { useRef } from 'preact/hooks'

export interface RowActions {
  open(file: FileView): void
  toggle(file: FileView, how: 'one' | 'range'): void
  menu(file: FileView, at: { readonly x: number; readonly y: number }): void
  focus(file: FileView): void
}

// As long as a press is on Android and iOS before it counts as one that holds.
const holdMs = 500

/** What pressing a file does: a press opens; with ctrl, shift, or while something is selected, it selects; one that holds begins a selection. */
export function useGestures(file: FileView, hasSelection: boolean, actions: RowActions) {
  const timer = useRef<ReturnType<typeof setTimeout>>()
  const hasHeld = useRef(false)
  const end = () => clearTimeout(timer.current)
  return {
    onPointerDown: ({ pointerType }: PointerEvent) => {
      hasHeld.current = false
      if (pointerType !== 'touch') return
      timer.current = setTimeout(() => {
        hasHeld.current = true
        actions.toggle(file, 'one')
      }, holdMs)
    },
    onPointerUp: end,
    onPointerMove: end,
    onPointerCancel: end,
    onClick: (event: MouseEvent) => {
      if (hasHeld.current) return
      if (event.shiftKey) actions.toggle(file, 'range')
      else if (event.ctrlKey || event.metaKey || hasSelection) actions.toggle(file, 'one')
      else actions.open(file)
    },
    onContextMenu: (event: MouseEvent) => {
      event.preventDefault()
      if (hasHeld.current || (event as PointerEvent).pointerType === 'touch') return
      actions.menu(file, { x: event.clientX, y: event.clientY })
    },
  }
}
