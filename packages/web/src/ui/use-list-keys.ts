import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { gridStep } from '#lib/grid-keys.ts'
import { createTypeAhead } from '#lib/type-ahead.ts'
import { isTyped, taskOfKey } from './typed-keys.ts'

const steps = ['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End']
const typeAhead = createTypeAhead()

interface ListKeys {
  /** Of all items, in their order; what has no name is found by its place alone. */
  readonly names: readonly string[]
  /** Renders an item that may be far from what is seen. */
  readonly show?: (index: number) => void
}

/** Keys in a list of items with a link or a button each, which say their place in `data-index`: arrows, Page keys, Home and End
 * lead from one to another, and letters to the next one whose name begins with them. */
export function useListKeys(list: RefObject<HTMLElement>, { names, show }: ListKeys) {
  const wanted = useRef<number>()
  const focusWanted = () => {
    const item = list.current?.querySelector(`:scope > [data-index="${wanted.current}"]`)
    const target = item?.querySelector<HTMLElement>('a[href], button')
    if (!target) return
    wanted.current = undefined
    target.focus()
  }
  useLayoutEffect(focusWanted)
  return (event: KeyboardEvent) => {
    if (isTyped(event) || event.shiftKey || !(event.target instanceof HTMLElement)) return
    const from = event.target.closest<HTMLElement>('[data-index]')?.dataset.index
    const to = from === undefined ? undefined : placeAfter(event, Number(from), names)
    if (to === undefined) return
    event.preventDefault()
    wanted.current = to
    show?.(to)
    focusWanted()
  }
}

function placeAfter(event: KeyboardEvent, from: number, names: readonly string[]): number | undefined {
  const { key, timeStamp: nowMs } = event
  if (steps.includes(key)) return gridStep(key, from, names.length, 1)
  const found = typeAhead.find(key, { names, from, nowMs })
  if (found !== undefined && found >= 0) return found
  const task = taskOfKey(event)
  if (task === 'next') return gridStep('ArrowDown', from, names.length, 1)
  return task === 'previous' ? gridStep('ArrowUp', from, names.length, 1) : undefined
}
