import type { FileId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import type { EventLoopTurns } from '#lib/event-loop-turns.ts'
import { ExactSum } from '#lib/exact-sum.ts'
import type { ComputedQuery } from './computed-values.ts'
import { countDocuments, listRange, listSizes } from './document-list-store.ts'
import { findDocument, findLast, readDocument } from './document-store.ts'
import type { CollectionKey } from './documents-predicate.ts'
import { parsePath } from './paths.ts'
import { portionsOf } from './portions.ts'
import { RtdbFailure } from './rtdb-failure.ts'
import { memberOf } from './values.ts'

// Other writers wait meanwhile: reading this much takes some tenths of a second.
const maxReadBytes = 16 * 1024 ** 2
const maxReadDocuments = 20_000
const portion = 500
// Counting is one statement of some milliseconds; fifty counted documents cost as much as one that is read.
const countedAtOnce = 50_000
const countedPerDocument = 50
// The cost of a query that reads no field, as a number of documents.
const documentsPerQuestion = 20

/** Answers the `$query` of one transaction, within bounds. */
export class TransactionQueries {
  readonly #tx: Writer
  readonly #fileId: FileId
  readonly #turns: EventLoopTurns
  #documents = 0
  #bytes = 0

  constructor(tx: Writer, fileId: FileId, turns: EventLoopTurns) {
    this.#tx = tx
    this.#turns = turns
    this.#fileId = fileId
  }

  async ask({ name, path: text, field }: ComputedQuery): Promise<unknown> {
    const path = parsePath(text, 'any')
    if (path.kind === 'document') return this.#exists(name, path, field)
    const at = { fileId: this.#fileId, path: path.text }
    if (field === undefined) {
      this.#documents += documentsPerQuestion
      this.#spend([])
      if (name === 'count') return this.#count(at)
      const [size] = await listSizes(this.#tx, at, { after: '', limit: 1 })
      if (name === 'exists') return size !== undefined
      if (!size) return undefined
      if (name === 'last') return (await findLast(this.#tx, at))?.id
      const [first] = await listRange(this.#tx, at, { after: '', upTo: size.id })
      return first?.id
    }
    return fold(name, await this.#values(at.path, field, name))
  }

  async #exists(
    name: ComputedQuery['name'],
    { parent, id }: { readonly parent: string; readonly id: string },
    field: string | undefined,
  ): Promise<boolean> {
    if (name !== 'exists') throw new RtdbFailure(400, `${name} needs the path of a collection`)
    const found = await findDocument(this.#tx, { fileId: this.#fileId, path: parent }, id)
    this.#documents += documentsPerQuestion
    this.#spend(found ? [found] : [])
    return found !== undefined && (field === undefined || memberOf(readDocument(found), field) !== undefined)
  }

  /** What the documents have in a field, in their order. */
  async #values(path: string, field: string, name: ComputedQuery['name']): Promise<unknown[]> {
    const at = { fileId: this.#fileId, path }
    const values: unknown[] = []
    let after = ''
    while (true) {
      const sizes = await listSizes(this.#tx, at, { after, limit: portion })
      this.#spend(sizes)
      if (sizes.length === 0) return values
      for (const { last } of portionsOf(sizes)) {
        for (const stored of await listRange(this.#tx, at, { after, upTo: last })) {
          const value = memberOf(readDocument(stored), field)
          if (value !== undefined) values.push(value)
        }
        after = last
        await this.#turns.giveWay()
      }
      if (sizes.length < portion || (values.length > 0 && (name === 'first' || name === 'exists')))
        return values
    }
  }

  async #count(at: CollectionKey): Promise<number> {
    let total = 0
    let after = ''
    while (true) {
      const { count, last } = await countDocuments(this.#tx, at, { after, limit: countedAtOnce })
      total += count
      if (count < countedAtOnce) return total
      after = last
      this.#documents += countedAtOnce / countedPerDocument
      this.#spend([])
      await this.#turns.giveWay()
    }
  }

  #spend(sizes: readonly { readonly size: number }[]): void {
    this.#documents += sizes.length
    for (const { size } of sizes) this.#bytes += size
    if (this.#documents > maxReadDocuments || this.#bytes > maxReadBytes)
      throw new RtdbFailure(413, 'The queries of this transaction read too many documents')
  }
}

function fold(name: ComputedQuery['name'], values: readonly unknown[]): unknown {
  if (name === 'count') return values.length
  if (name === 'exists') return values.length > 0
  if (name === 'first') return values[0]
  if (name === 'last') return values.at(-1)
  const numbers = values.filter((value) => typeof value === 'number')
  if (name === 'sum') return sumOf(numbers)
  if (numbers.length === 0) return undefined
  if (name === 'avg') return sumOf(numbers) / numbers.length
  return numbers.reduce((a, b) => (name === 'min' ? Math.min(a, b) : Math.max(a, b)))
}

function sumOf(numbers: readonly number[]): number {
  const sum = new ExactSum()
  for (const number of numbers) sum.add(number)
  return sum.value
}
