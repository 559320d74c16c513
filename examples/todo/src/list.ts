import type { ConnectedDatabase, Stored } from '@kith/app'
import { type Change, Overlay } from './overlay.ts'

export interface Item {
  readonly title: string
  readonly done: boolean
  /** When it was added, in Unix ms. */
  readonly at: number
}
export type StoredItem = Stored<Item>
type Mark = Stored<Pick<Item, 'done'>>

export const filters = ['all', 'open', 'done'] as const
export type Filter = (typeof filters)[number]

/** The entries that a filter shows, and the counts of all. */
export class List {
  readonly #database: ConnectedDatabase
  readonly #onChange: () => void
  readonly #items = new Overlay<StoredItem>()
  // Of all entries, whatever the filter shows: no more of them than is counted.
  readonly #marks = new Overlay<Mark>()
  #filter: Filter = 'all'
  #added = 0
  #isRefused = false
  #unsubscribe: () => void

  constructor(database: ConnectedDatabase, onChange: () => void) {
    this.#database = database
    this.#onChange = onChange
    this.#unsubscribe = this.#subscribe()
    this.#collection.select('done').onChange((marks) => {
      this.#marks.tell(marks)
      onChange()
    })
  }

  get filter(): Filter {
    return this.#filter
  }

  /** Asks for the entries of another filter. Until they come, it shows those of the last one that match. */
  set filter(filter: Filter) {
    this.#filter = filter
    this.#unsubscribe()
    this.#unsubscribe = this.#subscribe()
    this.#onChange()
  }

  get items(): readonly StoredItem[] {
    return this.#items.entries
      .filter(({ done }) => this.#filter === 'all' || done === (this.#filter === 'done'))
      .sort((a, b) => a.at - b.at)
  }

  get counts(): Readonly<Record<Filter, number>> {
    const marks = this.#marks.entries
    const done = marks.filter((mark) => mark.done).length
    return { all: marks.length, open: marks.length - done, done }
  }

  /** Whether the server has refused the last change. */
  get isRefused(): boolean {
    return this.#isRefused
  }

  /** Whether an entry has no id of the server yet, by which it could be changed. */
  isWaiting(id: string): boolean {
    return id.startsWith('waiting-')
  }

  add(item: Item): void {
    // A new entry is open: it would not be seen among those that are done.
    if (this.#filter === 'done') this.filter = 'all'
    this.#added += 1
    const waitingId = `waiting-${this.#added}`
    const change = { entry: { ...item, id: waitingId }, isStored: false }
    const adding = this.#collection.add(item).then((id) => {
      this.#drop([waitingId], change)
      this.#put([id], { entry: { ...item, id }, isStored: true })
    })
    this.#write([waitingId], change, adding)
  }

  tick(item: StoredItem, done: boolean): void {
    const change = { entry: { ...item, done }, isStored: false }
    const { id, title, at } = item
    // Whole: somebody may have removed it meanwhile, and it comes back then.
    this.#write([id], change, this.#collection.doc(id).update({ title, at, done }))
  }

  remove(id: string): void {
    this.#write([id], { entry: undefined, isStored: false }, this.#collection.doc(id).delete())
  }

  removeDone(): void {
    const ids = this.#marks.entries.filter(({ done }) => done).map(({ id }) => id)
    const operations = ids.map((id) => ({ type: 'delete', path: `items/${id}` }) as const)
    this.#write(ids, { entry: undefined, isStored: false }, this.#database.transaction(operations))
  }

  get #collection() {
    return this.#database.collection<Item>('items')
  }

  #subscribe(): () => void {
    const all = this.#collection.orderBy('at')
    const query = this.#filter === 'all' ? all : all.where('done', 'equals', this.#filter === 'done')
    return query.onChange((items) => {
      this.#items.tell(items)
      this.#onChange()
    })
  }

  /** Shows a change until the server has stored it and tells of it, or refuses it. */
  #write(ids: readonly string[], change: Change<StoredItem>, storing: Promise<unknown>): void {
    this.#put(ids, change)
    this.#isRefused = false
    storing
      .then(
        () => {
          change.isStored = true
        },
        () => {
          this.#drop(ids, change)
          this.#isRefused = this.#database.state.kind !== 'ended'
        },
      )
      .finally(this.#onChange)
    this.#onChange()
  }

  #put(ids: readonly string[], change: Change<StoredItem>): void {
    for (const overlay of [this.#items, this.#marks]) for (const id of ids) overlay.put(id, change)
  }

  #drop(ids: readonly string[], change: Change<StoredItem>): void {
    for (const overlay of [this.#items, this.#marks]) for (const id of ids) overlay.drop(id, change)
  }
}
