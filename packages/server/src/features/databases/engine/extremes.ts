type Compare<Item> = (a: Item, b: Item) => number

/** A bag of values that knows its smallest and largest: what is taken away stays in the heaps until it comes to the top.
 * Bound: the values of the documents that are aggregated. */
export class Extremes<Item> {
  readonly #counts = new Map<string, number>()
  readonly #keyOf: (item: Item) => string
  readonly #smallest: Heap<Item>
  readonly #largest: Heap<Item>

  constructor(compare: Compare<Item>, keyOf: (item: Item) => string) {
    this.#keyOf = keyOf
    this.#smallest = new Heap(compare)
    this.#largest = new Heap((a, b) => compare(b, a))
  }

  /** How many different values it holds. */
  get size(): number {
    return this.#counts.size
  }

  add(item: Item): void {
    const key = this.#keyOf(item)
    const count = this.#counts.get(key) ?? 0
    this.#counts.set(key, count + 1)
    if (count > 0) return
    this.#smallest.push(item)
    this.#largest.push(item)
    this.#tidy()
  }

  remove(item: Item): void {
    const key = this.#keyOf(item)
    const count = this.#counts.get(key) ?? 0
    if (count > 1) this.#counts.set(key, count - 1)
    else this.#counts.delete(key)
  }

  get min(): Item | undefined {
    return this.#top(this.#smallest)
  }

  get max(): Item | undefined {
    return this.#top(this.#largest)
  }

  #top(heap: Heap<Item>): Item | undefined {
    while (heap.top !== undefined && !this.#counts.has(this.#keyOf(heap.top))) heap.pop()
    return heap.top
  }

  /** A value that comes and goes all the time leaves more behind than there is. */
  #tidy(): void {
    for (const heap of [this.#smallest, this.#largest]) {
      if (heap.size <= 2 * this.#counts.size + 16) continue
      const seen = new Set<string>()
      heap.keep((item) => {
        const key = this.#keyOf(item)
        const isKept = this.#counts.has(key) && !seen.has(key)
        seen.add(key)
        return isKept
      })
    }
  }
}

/** The smallest and largest of numbers that only come. */
export class RunningExtremes {
  readonly size = 0
  min: number | undefined
  max: number | undefined

  add(number: number): void {
    this.min = Math.min(this.min ?? number, number)
    this.max = Math.max(this.max ?? number, number)
  }

  remove(): void {
    throw new Error('What was added here is not taken away')
  }
}

class Heap<Item> {
  #items: Item[] = []
  readonly #compare: Compare<Item>

  constructor(compare: Compare<Item>) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  get top(): Item | undefined {
    return this.#items[0]
  }

  push(item: Item): void {
    const items = this.#items
    let at = items.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (this.#compare(items[parent] as Item, item) <= 0) break
      items[at] = items[parent] as Item
      at = parent
    }
    items[at] = item
  }

  pop(): void {
    const items = this.#items
    const last = items.pop()
    if (last === undefined || items.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= items.length) break
      if (child + 1 < items.length && this.#compare(items[child + 1] as Item, items[child] as Item) < 0)
        child += 1
      if (this.#compare(last, items[child] as Item) <= 0) break
      items[at] = items[child] as Item
      at = child
    }
    items[at] = last
  }

  /** In order: a sorted list is a heap. */
  keep(isKept: (item: Item) => boolean): void {
    this.#items = this.#items.filter(isKept).sort(this.#compare)
  }
}
