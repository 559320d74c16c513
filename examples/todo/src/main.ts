import { type App, connect, followLook } from '@kith/app'
import { drawItems } from './draw-items.ts'
import { element, make, say } from './elements.ts'
import { filters, List } from './list.ts'
import { People } from './people.ts'
import { textsOf } from './texts.ts'

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
const list = new List(database, show)

database.setPresence({ user: {} })
app.onChange(show)
element('add').addEventListener('submit', (event) => {
  event.preventDefault()
  const input = element<HTMLInputElement>('title')
  const title = input.value.trim()
  if (title !== '') list.add({ title, done: false, at: Date.now() })
  input.value = ''
  input.focus()
})
for (const filter of filters)
  element(`filter-${filter}`).addEventListener('change', () => {
    list.filter = filter
  })
element('clear').addEventListener('click', () => list.removeDone())
show()

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
  const { counts } = list
  element('name').textContent = opened.name
  element('left').textContent = texts.left(counts.open)
  element('people').replaceChildren(...people.others().map((idTag) => make('li', {}, texts.here(idTag))))
  say('notice', noticeOf(app))
  element('add').hidden = !mayWrite
  element('add').querySelector('label')?.replaceChildren(texts.what)
  element('add').querySelector('button')?.replaceChildren(texts.add)
  element<HTMLInputElement>('title').placeholder = texts.what
  drawFilter()
  drawItems(list, { mayWrite, texts })
  say('empty', emptyOf(mayWrite))
  // Nobody removes what they do not see.
  const removes = mayWrite && list.filter !== 'open' && counts.done > 0
  say('clear', removes ? texts.clear(counts.done) : undefined)
}

function drawFilter(): void {
  const texts = textsOf(app.language)
  element('filter').hidden = list.counts.all === 0
  element('filter').querySelector('legend')?.replaceChildren(texts.show)
  for (const filter of filters) {
    element<HTMLInputElement>(`filter-${filter}`).checked = list.filter === filter
    element('filter').querySelector(`[for=filter-${filter}]`)?.replaceChildren(texts.filters[filter])
  }
}

/** What is said where entries would be. */
function emptyOf(mayWrite: boolean): string | undefined {
  const texts = textsOf(app.language)
  const { filter, counts } = list
  if (list.items.length < counts[filter])
    return database.state.kind === 'connecting' ? texts.notLoaded : undefined
  if (counts.all === 0) return mayWrite ? texts.empty : texts.emptyForReaders
  return filter !== 'all' && counts[filter] === 0 ? texts.none[filter] : undefined
}

function noticeOf({ opened, language }: App): string | undefined {
  const texts = textsOf(language)
  const { state } = database
  if (state.kind === 'ended')
    return state.code === 4403 ? texts.withdrawn : state.code === 4404 ? texts.gone : texts.ended
  if (list.isRefused) return texts.refused
  if (state.kind === 'connecting') return texts.offline
  return opened.access === 'read' ? texts.readOnly : undefined
}
