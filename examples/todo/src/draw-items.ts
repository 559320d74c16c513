import { element, make } from './elements.ts'
import type { List, StoredItem } from './list.ts'
import type { Texts } from './texts.ts'

interface Look {
  readonly mayWrite: boolean
  readonly texts: Texts
}

/** Draws the entries, and leaves the focus where it was. */
export function drawItems(list: List, look: Look): void {
  const items = element('items')
  const focused = document.activeElement
  const place = [...items.children].findIndex((line) => line.contains(focused))
  items.replaceChildren(...list.items.map((item) => lineOf(list, item, look)))
  if (place === -1) return
  const same = document.getElementById(focused?.id ?? '')
  // What was ticked may have left: the next entry has its place.
  const next = items.children[place] ?? items.lastElementChild
  const boxOfNext = next?.querySelector('input')
  const others = [boxOfNext, element(`filter-${list.filter}`), element('title')]
  for (const target of [same, ...others]) {
    target?.focus()
    if (document.activeElement === target) return
  }
}

function lineOf(list: List, item: StoredItem, { mayWrite, texts }: Look): HTMLLIElement {
  const { id, title, done } = item
  const isWaiting = list.isWaiting(id)
  const disabled = !mayWrite || isWaiting
  const box = make('input', { type: 'checkbox', id: `done-${id}`, checked: done, disabled })
  box.addEventListener('change', () => list.tick(item, box.checked))
  const className = isWaiting ? 'waiting' : done ? 'done' : ''
  const line = make('li', { className }, make('label', {}, box, make('span', {}, title)))
  if (disabled) return line
  const label = texts.remove(title)
  const remove = make('button', { type: 'button', id: `remove-${id}`, ariaLabel: label, title: label }, '×')
  remove.addEventListener('click', () => {
    // The focus would go with the line.
    element('title').focus()
    list.remove(id)
  })
  line.append(remove)
  return line
}
