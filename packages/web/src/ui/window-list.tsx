import type { ComponentChildren } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { Kept } from './kept.ts'
import { useListKeys } from './use-list-keys.ts'
import { useWindowList } from './use-window-list.ts'

interface WindowListProps<Item> {
  readonly items: readonly Item[]
  readonly keyOf: (item: Item) => string
  /** By which letters lead to an item. */
  readonly nameOf: (item: Item) => string
  readonly label: string
  /** Whether these are all there are. */
  readonly isWhole: boolean
  /** In px, of an item that was not seen yet. */
  readonly estimate: number
  readonly class?: string | undefined
  readonly itemClass?: string | undefined
  readonly children: (item: Item) => ComponentChildren
  /** Called when the end comes near. */
  readonly onEnd?: (() => void) | undefined
}

// So many items before the last, the next ones are asked for.
const ahead = 30

/** Items one below the other in a list of any length; those that are far from what is seen are not rendered. */
export function WindowList<Item>(props: WindowListProps<Item>) {
  const { items, keyOf, nameOf, label, isWhole, estimate, onEnd } = props
  const keys = useMemo(() => items.map(keyOf), [items, keyOf])
  const names = useMemo(() => items.map(nameOf), [items, nameOf])
  const { list, container, height, topOf } = useWindowList<HTMLUListElement>({ keys, estimate })
  const onKeyDown = useListKeys(container, {
    names,
    show: (index) => list.scrollToIndex(index),
  })
  const shown = list.getVirtualItems()
  const last = shown.at(-1)?.index ?? -1
  useEffect(() => {
    if (last >= items.length - ahead) onEnd?.()
  }, [last, items.length, onEnd])
  return (
    <ul
      ref={container}
      class={props.class}
      aria-label={label}
      onKeyDown={onKeyDown}
      style={{ position: 'relative', boxSizing: 'content-box', height }}
    >
      {shown.map((place) => {
        const item = items[place.index]
        return (
          item !== undefined && (
            <li
              key={place.key}
              ref={list.measureElement}
              data-index={place.index}
              class={props.itemClass}
              aria-posinset={place.index + 1}
              aria-setsize={isWhole ? items.length : -1}
              style={{ position: 'absolute', insetInline: 0, contain: 'layout style', top: topOf(place) }}
            >
              <Kept by={[item, props.children]}>{() => props.children(item)}</Kept>
            </li>
          )
        )
      })}
    </ul>
  )
}
