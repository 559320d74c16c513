import type { FileId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import type { ComputedQuery } from './computed-values.ts'
import {
  countDocuments,
  findDocument,
  findLast,
  listRange,
  listSizes,
  readDocument,
} from './document-store.ts'
import { parsePath } from './paths.ts'
import { RtdbFailure } from './rtdb-failure.ts'
import { memberOf } from './values.ts'

// Others wait meanwhile: it takes some tenths of a second.
const maxReadBytes = 16 * 1024 ** 2
const maxReadDocuments = 20_000
const portion = 500
// What a question without a field takes, in documents that are read.
const documentsPerQuestion = 20

/** Answers the `$query` of one transaction, within bounds. */
export class TransactionQueries {
  readonly #tx: Writer
  readonly #fileId: FileId
  #documents = 0
  #bytes = 0

  constructor(tx: Writer, fileId: FileId) {
    this.#tx = tx
    this.#fileId = fileId
  }

  async ask({ name, path: text, field }: ComputedQuery): Promise<unknown> {
    const path = parsePath(text, 'any')
    if (path.kind === 'document') return this.#exists(name, path, field)
    const at = { fileId: this.#fileId, path: path.text }
    if (field === undefined) {
      this.#documents += documentsPerQuestion
      this.#spend([])
      if (name === 'count') return countDocuments(this.#tx, at)
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
      const upTo = sizes.at(-1)?.id
      if (upTo === undefined) return values
      for (const stored of await listRange(this.#tx, at, { after, upTo })) {
        const value = memberOf(readDocument(stored), field)
        if (value !== undefined) values.push(value)
      }
      if (sizes.length < portion || (values.length > 0 && (name === 'first' || name === 'exists')))
        return values
      after = upTo
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
  const sum = numbers.reduce((total, number) => total + number, 0)
  if (name === 'sum') return sum
  if (numbers.length === 0) return undefined
  if (name === 'avg') return sum / numbers.length
  return numbers.reduce((a, b) => (name === 'min' ? Math.min(a, b) : Math.max(a, b)))
}
