import { type App, connect, followLook } from '@kith/app'
import { element, make, say } from './elements.ts'
import { People } from './people.ts'
import { textsOf } from './texts.ts'

interface Item {
  readonly title: string
  readonly done: boolean
  /** When it was added, in Unix ms. */
  readonly at: number
}
type StoredItem = Item & { readonly id: string }

const app = await connect()
followLook(app)
const people = new People()
let isDrawn = true
const database = await app.database({
  hasPresence: true,
  onState: show,
  onPresence: (change) => {
    people.take(change)
    show()
  },
})
const collection = database.collection<Item>('items')
let items: readonly StoredItem[] = []
// Those that the server has not stored yet, so that they can be seen at once and offline.
const waiting = new Set<Item>()
// What was ticked or unticked here, until the server has stored it: the list would show what was before in between.
const ticked = new Map<string, boolean>()
let refused = false

database.setPresence({ user: {} })
collection.orderBy('at').onChange(
  (stored) => {
    items = stored
    show()
  },
  () => show(),
)
app.onChange(show)
element('add').addEventListener('submit', (event) => {
  event.preventDefault()
  const input = element<HTMLInputElement>('title')
  const title = input.value.trim()
  if (title !== '') add({ title, done: false, at: Date.now() })
  input.value = ''
  input.focus()
})
element('clear').addEventListener('click', () => {
  const done = items.filter((item) => item.done)
  write(database.transaction(done.map(({ id }) => ({ type: 'delete', path: `items/${id}` }))))
})
show()

function tick(id: string, done: boolean): void {
  ticked.set(id, done)
  const isLast = () => ticked.get(id) === done
  const updating = collection.doc(id).update({ done })
  write(updating.finally(() => isLast() && ticked.delete(id)))
}

function add(item: Item): void {
  waiting.add(item)
  const adding = collection.add(item).finally(() => waiting.delete(item))
  write(adding)
  show()
}

/** Notes whether the server refuses a change; the list shows what it has. */
function write(change: Promise<unknown>): void {
  refused = false
  change
    .catch(() => {
      refused = database.state.kind !== 'ended'
    })
    .finally(show)
}

/** Draws once, however much has changed at a time. */
function show(): void {
  if (!isDrawn) return
  isDrawn = false
  setTimeout(() => {
    isDrawn = true
    draw(app)
  })
}

function draw({ opened, language }: App): void {
  const texts = textsOf(language)
  const mayWrite = opened.access === 'write' && database.state.kind !== 'ended'
  element('name').textContent = opened.name
  element('left').textContent = texts.left(items.filter((item) => !item.done).length)
  element('people').replaceChildren(...people.others().map((idTag) => make('li', {}, texts.here(idTag))))
  say('notice', noticeOf(app))
  element('add').hidden = !mayWrite
  element('add').querySelector('label')?.replaceChildren(texts.what)
  element('add').querySelector('button')?.replaceChildren(texts.add)
  element<HTMLInputElement>('title').placeholder = texts.what
  drawItems(mayWrite)
  const isEmpty = items.length + waiting.size === 0
  say('empty', isEmpty ? (mayWrite ? texts.empty : texts.emptyForReaders) : undefined)
  const done = items.filter((item) => item.done).length
  say('clear', mayWrite && done > 0 ? texts.clear(done) : undefined)
}

/** Draws the list, and leaves the focus where it was. */
function drawItems(mayWrite: boolean): void {
  const focused = document.activeElement?.id
  const lines = items.map((item) => lineOf(item, mayWrite))
  const unsaved = [...waiting].map(({ title }) =>
    make(
      'li',
      { className: 'waiting' },
      make('label', {}, make('input', { type: 'checkbox', disabled: true }), make('span', {}, title)),
    ),
  )
  element('items').replaceChildren(...lines, ...unsaved)
  if (focused) document.getElementById(focused)?.focus()
}

function lineOf({ id, title, done }: StoredItem, mayWrite: boolean): HTMLLIElement {
  const checked = ticked.get(id) ?? done
  const box = make('input', { type: 'checkbox', id: `done-${id}`, checked, disabled: !mayWrite })
  box.addEventListener('change', () => tick(id, box.checked))
  const line = make('li', { className: done ? 'done' : '' }, make('label', {}, box, make('span', {}, title)))
  if (!mayWrite) return line
  const label = textsOf(app.language).remove(title)
  const remove = make('button', { type: 'button', id: `remove-${id}`, ariaLabel: label, title: label }, '×')
  remove.addEventListener('click', () => {
    // The focus would go with the line.
    element('title').focus()
    write(collection.doc(id).delete())
  })
  line.append(remove)
  return line
}

function noticeOf({ opened, language }: App): string | undefined {
  const texts = textsOf(language)
  const { state } = database
  if (state.kind === 'ended')
    return state.code === 4403 ? texts.withdrawn : state.code === 4404 ? texts.gone : texts.ended
  if (refused) return texts.refused
  if (state.kind === 'connecting') return texts.offline
  return opened.access === 'read' ? texts.readOnly : undefined
}
