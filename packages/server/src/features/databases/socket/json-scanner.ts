import type { EventLoopTurns } from '#lib/event-loop-turns.ts'

type Turns = Pick<EventLoopTurns, 'giveWay'>

/** A part of a text: from here up to there. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** The text of a value, and how much parsing it would make. */
export interface ValueSpan extends Span {
  /** Of arrays and objects inside each other. */
  readonly levels: number
  /** It has no more values than this, those inside of others included. */
  readonly values: number
  /** Different names of members, up to one more than `mostNames`. */
  readonly names: number
}

// Others are let in after so many characters, if it is time.
const charactersAtOnce = 64 * 1024
const [tab, lineFeed, carriageReturn, space] = [9, 10, 13, 32]
const [quote, comma, colon, backslash] = [34, 44, 58, 92]
const [openBracket, closeBracket, openBrace, closeBrace] = [91, 93, 123, 125]

/** Finds where the members of a long JSON object and the elements of a long array begin and end, without making values of them
 * and in turns of the event loop. Only the commas and brackets between them are checked: the spans have to be parsed. */
export class JsonScanner {
  readonly #text: string
  readonly #turns: Turns
  readonly #mostNames: number
  #at = 0
  #pauseAt = charactersAtOnce

  constructor(text: string, turns: Turns, { mostNames = 0 } = {}) {
    this.#text = text
    this.#turns = turns
    this.#mostNames = mostNames
  }

  /** The members of the object that the text is, `limit` at most; undefined when it is none. */
  async members(limit: number): Promise<{ readonly name: Span; readonly value: ValueSpan }[] | undefined> {
    const members: { name: Span; value: ValueSpan }[] = []
    const whole = { from: 0, to: this.#text.length }
    const isList = await this.#list(whole, [openBrace, closeBrace], async () => {
      const name = await this.#value()
      if ((await this.#skipSpace()) !== colon) return 'malformed'
      this.#at += 1
      members.push({ name, value: await this.#value() })
      return members.length < limit ? 'more' : 'enough'
    })
    return isList ? members : undefined
  }

  /** The elements of the array that a span is, `limit` at most; undefined when it is none. */
  async elements(span: Span, limit: number): Promise<ValueSpan[] | undefined> {
    const elements: ValueSpan[] = []
    const isList = await this.#list(span, [openBracket, closeBracket], async () => {
      elements.push(await this.#value())
      return elements.length < limit ? 'more' : 'enough'
    })
    return isList ? elements : undefined
  }

  /** Reads what is between two brackets, item by item; false when that is no list. */
  async #list(
    { from, to }: Span,
    [open, close]: readonly [number, number],
    readItem: () => Promise<'more' | 'enough' | 'malformed'>,
  ): Promise<boolean> {
    this.#at = from
    this.#pauseAt = from + charactersAtOnce
    if ((await this.#skipSpace()) !== open) return false
    this.#at += 1
    let next = (await this.#skipSpace()) === close ? close : comma
    while (next === comma) {
      const read = await readItem()
      if (read !== 'more') return read === 'enough'
      next = await this.#skipSpace()
      if (next === comma) this.#at += 1
    }
    if (next !== close) return false
    this.#at += 1
    await this.#skipSpace()
    return this.#at >= to
  }

  async #skipSpace(): Promise<number> {
    for (; ; this.#at += 1) {
      if (this.#at >= this.#pauseAt) await this.#pause()
      const code = this.#text.charCodeAt(this.#at)
      if (code !== space && code !== lineFeed && code !== carriageReturn && code !== tab) return code
    }
  }

  /** The value that comes next, up to the comma, colon or bracket behind it; empty where there is none. */
  async #value(): Promise<ValueSpan> {
    await this.#skipSpace()
    const from = this.#at
    const text = this.#text
    const value = { levels: 0, values: 1 }
    const names = new NameCount(text, this.#mostNames)
    let depth = 0
    let isInString = false
    for (; this.#at < text.length; this.#at += 1) {
      if (this.#at >= this.#pauseAt) await this.#pause()
      const code = text.charCodeAt(this.#at)
      if (isInString) {
        if (code === backslash) this.#at += 1
        else if (code === quote) {
          isInString = false
          names.endText(this.#at)
        }
      } else if (code === quote) {
        isInString = true
        names.beginText(this.#at)
      } else if (code === openBracket || code === openBrace) {
        depth += 1
        value.values += 1
        if (depth > value.levels) value.levels = depth
      } else if (code === closeBracket || code === closeBrace) {
        if (depth === 0) break
        depth -= 1
      } else if (code === comma) {
        if (depth === 0) break
        value.values += 1
      } else if (code === colon) {
        if (depth === 0) break
        names.note()
      }
    }
    return { from, to: this.#at, ...value, names: names.count }
  }

  async #pause(): Promise<void> {
    this.#pauseAt = this.#at + charactersAtOnce
    await this.#turns.giveWay()
  }
}

/** Counts the different names of members, up to one more than there may be. */
class NameCount {
  readonly #text: string
  readonly #most: number
  // Bound: one more than `#most`.
  readonly #names = new Set<string>()
  #from = 0
  #to = 0

  constructor(text: string, most: number) {
    this.#text = text
    this.#most = most
  }

  get count(): number {
    return this.#names.size
  }

  beginText(at: number): void {
    this.#from = at
  }

  endText(at: number): void {
    this.#to = at
  }

  /** The last text was a name: a colon follows. Where several do, it is looked at once. */
  note(): void {
    if (this.#names.size <= this.#most) this.#names.add(this.#text.slice(this.#from, this.#to))
    this.#from = this.#to
  }
}
