import { rtdbLimits } from '@kith/protocol'
import type { EventLoopTurns } from '#lib/event-loop-turns.ts'
import type { CompiledFilter } from './filter.ts'
import type { Candidate } from './find-candidates.ts'
import { RtdbFailure } from './rtdb-failure.ts'
import { type DocumentOrder, project } from './shape-documents.ts'
import { sortInTurns } from './sort-in-turns.ts'
import type { ReadDocument } from './values.ts'

/** What became of documents while others were read: undefined stands for one that is gone. */
export type ChangedDocuments = ReadonlyMap<string, ReadDocument | undefined>

interface Collection {
  readonly matches: CompiledFilter
  readonly order: DocumentOrder
  /** Do candidates come in this order? */
  readonly isOrdered: boolean
  readonly offset: number
  readonly limit: number | undefined
  readonly select: readonly string[] | undefined
  /** The fields that `order` looks at. */
  readonly sortFields: readonly string[]
  readonly turns: EventLoopTurns
}

// So many of those that were found first may change meanwhile, and there are still enough.
const spare = 64
// Of documents that are kept until it is known which are the first.
const maxKeptBytes = 64 * 1024 ** 2
const documentsAtOnce = 500

/** The documents of a query, as few of them as can be kept. */
export class DocumentCollector {
  readonly #of: Collection
  readonly #wanted: number
  readonly #fields: readonly string[] | undefined
  // Bounded by `maxKeptBytes`.
  #kept = new Map<string, Candidate>()
  #bytes = 0
  #isCut = false

  constructor(of: Collection) {
    this.#of = of
    this.#wanted = of.limit === undefined ? Number.POSITIVE_INFINITY : of.offset + of.limit
    this.#fields = of.select && [...of.select, ...of.sortFields]
  }

  /** Does it need no more candidates? */
  get isFull(): boolean {
    return this.#of.isOrdered && this.#isCut
  }

  async add(candidates: readonly Candidate[]): Promise<void> {
    const { turns } = this.#of
    for (const candidate of candidates) {
      if (this.#of.matches(candidate.document)) this.#keep(candidate)
      if (turns.isOver) await turns.giveWay()
    }
    const most = this.#wanted + spare
    if (this.#of.isOrdered ? this.#kept.size >= most : this.#kept.size > 2 * most) await this.#cut(most)
    const maxBytes = this.#of.limit === undefined ? rtdbLimits.resultBytes : maxKeptBytes
    // Large documents have no spare ones.
    if (this.#bytes > maxBytes && this.#kept.size > this.#wanted) await this.#cut(this.#wanted)
    if (this.#bytes > maxBytes) throw tooLarge()
  }

  /** The result, after what has changed meanwhile; undefined when too many have that were among the first. */
  async finish(changed: ChangedDocuments): Promise<ReadDocument[] | undefined> {
    const { matches, limit, offset, select, turns } = this.#of
    for (const id of changed.keys()) this.#drop(id)
    if (this.#isCut && this.#kept.size < this.#wanted) return undefined
    for (const document of changed.values())
      if (document && matches(document)) this.#keep({ document, size: JSON.stringify(document).length })
    const sorted = await this.#sorted()
    const found = sorted.slice(offset, limit === undefined ? undefined : offset + limit)
    const documents: ReadDocument[] = []
    let bytes = 0
    for (const { document, size } of found) {
      bytes += size
      documents.push(project(select, document))
      if (documents.length % documentsAtOnce === 0) await turns.giveWay()
    }
    if (bytes > rtdbLimits.resultBytes) throw tooLarge()
    return documents
  }

  #keep(candidate: Candidate): void {
    this.#drop(candidate.document.id)
    const kept = this.#slim(candidate)
    this.#kept.set(kept.document.id, kept)
    this.#bytes += kept.size
  }

  #drop(id: string): void {
    this.#bytes -= this.#kept.get(id)?.size ?? 0
    this.#kept.delete(id)
  }

  #slim(candidate: Candidate): Candidate {
    if (!this.#fields) return candidate
    const document = project(this.#fields, candidate.document)
    return { document, size: JSON.stringify(document).length }
  }

  async #cut(most: number): Promise<void> {
    const first = (await this.#sorted()).slice(0, most)
    this.#kept = new Map(first.map((it) => [it.document.id, it]))
    this.#bytes = first.reduce((sum, { size }) => sum + size, 0)
    this.#isCut = true
  }

  #sorted(): Promise<Candidate[]> {
    const { order, turns } = this.#of
    return sortInTurns([...this.#kept.values()], (a, b) => order(a.document, b.document), turns)
  }
}

function tooLarge(): RtdbFailure {
  return new RtdbFailure(413, `A result has at most ${rtdbLimits.resultBytes} bytes: ask for less of it`)
}
