import { type FileId, type RtdbOperationResult, rtdbLimits } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { EventLoopTurns } from '#lib/event-loop-turns.ts'
import type { DocumentChange } from './database.ts'
import { deleteDocument, findDocument, putDocument } from './document-store.ts'
import { assertStorable, documentText } from './document-text.ts'
import { changeEntries, type FieldIndex } from './index-store.ts'
import { changedKeys, loggedText } from './logged-change.ts'
import { type DataContext, mergedData, newData } from './merge-data.ts'
import type { RtdbPath } from './paths.ts'
import type { PreparedOperation } from './prepare-operations.ts'
import { RtdbFailure } from './rtdb-failure.ts'
import { collectionKey, compareKept, entryKeys, sortableText } from './sort-keys.ts'
import { TransactionQueries } from './transaction-query.ts'
import { type JsonObject, memberOf, plainObject, type ReadDocument } from './values.ts'

/** What the documents of one transaction may weigh together, those before and those after it. */
const maxDocumentBytes = 64 * 1024 ** 2
/** What its computed values and index entries may read and make. */
const maxComputedBytes = 32 * 1024 ** 2
// The bytes of an entry beside its key and its document's id.
const entryOverhead = 32
// The work of changing an entry, as bytes of a document that take as long to write.
const entryWork = 1024

/** A document as it is kept: without its id. */
interface FoundDocument {
  readonly data: JsonObject
  readonly size: number
}

interface Writing {
  readonly fileId: FileId
  /** Unix seconds. */
  readonly now: number
  readonly indexes: readonly FieldIndex[]
  /** Without the bounds of one transaction: the caller divides the work by `workBytes`. */
  readonly isUnbounded?: boolean
}

/** Writes documents with their index entries, and knows what has changed so far. */
export class DocumentWriter {
  readonly changes: DocumentChange[] = []
  /** By how much the database has grown. */
  bytes = 0
  readonly #tx: Writer
  readonly #fileId: FileId
  readonly #now: number
  readonly #indexes: readonly FieldIndex[]
  readonly #queries: TransactionQueries
  readonly #turns = new EventLoopTurns({ isUrgent: true })
  // Of `changes`, each.
  readonly #logTexts: string[] = []
  readonly #isUnbounded: boolean
  #documentBytes = 0
  #computedBytes = 0

  constructor(tx: Writer, of: Writing) {
    this.#isUnbounded = of.isUnbounded ?? false
    this.#tx = tx
    this.#fileId = of.fileId
    this.#now = of.now
    this.#indexes = of.indexes
    this.#queries = new TransactionQueries(tx, of.fileId, this.#turns)
  }

  /** What it has read and made so far. */
  get workBytes(): number {
    return this.#documentBytes + this.#computedBytes
  }

  /** The changes as the log has them. */
  get logText(): string {
    return `[${this.#logTexts.join(',')}]`
  }

  /** Yields to the event loop when it has run for a while, so that readers go on. */
  async apply(operation: PreparedOperation): Promise<RtdbOperationResult> {
    const { type, path, ref } = operation
    const before = type === 'create' ? undefined : await this.find(path)
    if (type === 'delete') {
      await this.write(path, before, undefined)
      return { ref: null, id: null }
    }
    await this.write(path, before, await this.#dataOf(operation, before?.data))
    return { ref, id: path.id }
  }

  async find(path: RtdbPath): Promise<FoundDocument | undefined> {
    const found = await findDocument(this.#tx, { fileId: this.#fileId, path: path.parent }, path.id)
    if (!found) return undefined
    this.#touch(found.size)
    const data = JSON.parse(found.text) as JsonObject
    await this.#turns.giveWay()
    return { data, size: found.size }
  }

  /** Puts a document in the place of what is there, or removes that. */
  async write(
    path: RtdbPath,
    before: FoundDocument | undefined,
    data: JsonObject | undefined,
  ): Promise<void> {
    const at = { fileId: this.#fileId, path: path.parent }
    const { id } = path
    await this.#turns.giveWay()
    const keys = changedKeys(before?.data ?? {}, data ?? {})
    if (before && data ? keys.length === 0 : before === data) return
    await this.#turns.giveWay()
    if (data) {
      assertStorable(data)
      await this.#turns.giveWay()
      const { text, size } = documentText(data)
      this.#touch(size)
      await this.#turns.giveWay()
      await putDocument(this.#tx, at, { id, text, size })
      this.bytes += weightOf(path, size)
      await this.#note({ action: before ? 'update' : 'create', path, keys }, before?.data, { data, text })
    } else {
      await deleteDocument(this.#tx, at, id)
      await this.#note({ action: 'delete', path, keys }, before?.data)
    }
    if (before) this.bytes -= weightOf(path, before.size)
    await this.#changeIndexes(path, before?.data, data)
  }

  async #note(
    { action, path, keys }: Pick<DocumentChange, 'action' | 'keys'> & { readonly path: RtdbPath },
    before: JsonObject | undefined,
    after?: { readonly data: JsonObject; readonly text: string },
  ): Promise<void> {
    const was = before && { before: withId(path.id, before) }
    await this.#turns.giveWay()
    const is = after && { after: withId(path.id, after.data) }
    await this.#turns.giveWay()
    const change: DocumentChange = { action, path: path.text, ...was, ...is, keys }
    this.changes.push(change)
    this.#logTexts.push(loggedText(change, after?.text))
    await this.#turns.giveWay()
  }

  #dataOf(operation: PreparedOperation, before: JsonObject | undefined): Promise<JsonObject> {
    const context: DataContext = {
      now: this.#now,
      spend: (bytes) => this.#spend(bytes),
      giveWay: () => this.#turns.giveWay(),
      query: (query) => this.#queries.ask({ ...query, path: operation.resolve(query.path) }),
    }
    return operation.type === 'update'
      ? mergedData(context, before ?? {}, operation.data)
      : newData(context, operation.data)
  }

  async #changeIndexes(path: RtdbPath, before?: JsonObject, after?: JsonObject): Promise<void> {
    const collection = collectionKey(path.parent)
    for (const index of this.#indexes) {
      if (index.collection !== collection) continue
      // Documents behind `builtTo` get their entries from the build of the index.
      if (index.builtTo !== null && compareKept(sortableText(path.id), index.builtTo) > 0) continue
      const had = before ? entryKeys(memberOf(before, index.field)) : []
      const has = after ? entryKeys(memberOf(after, index.field)) : []
      const removed = missingFrom(has, had)
      const added = missingFrom(had, has)
      await changeEntries(this.#tx, {
        fileId: this.#fileId,
        indexNo: index.indexNo,
        id: path.id,
        removed,
        added,
      })
      this.#spend(entryWork * (added.length + removed.length))
      await this.#turns.giveWay()
      this.bytes += entryBytes(added, path.id) - entryBytes(removed, path.id)
    }
  }

  #touch(bytes: number): void {
    this.#documentBytes += bytes
    if (this.#documentBytes > maxDocumentBytes && !this.#isUnbounded)
      throw new RtdbFailure(413, 'The documents of this transaction are too large together')
  }

  #spend(bytes: number): void {
    this.#computedBytes += bytes
    if (this.#computedBytes > maxComputedBytes && !this.#isUnbounded)
      throw new RtdbFailure(413, 'This transaction computes and indexes too much')
  }
}

function withId(id: string, data: JsonObject): ReadDocument {
  const document = plainObject({ id })
  for (const name of Object.keys(data)) document[name] = data[name]
  return document as ReadDocument
}

function missingFrom(keys: readonly string[], others: readonly string[]): string[] {
  const known = new Set(keys)
  return others.filter((key) => !known.has(key))
}

/** What a document counts with, its path included. */
export function weightOf(path: RtdbPath, size: number): number {
  return size + Buffer.byteLength(path.text)
}

/** The bytes that the entries of a document count. */
export function entryBytes(keys: readonly string[], id: string): number {
  const idBytes = Buffer.byteLength(id) + entryOverhead
  return keys.reduce((sum, key) => sum + Buffer.byteLength(key) + idBytes, 0)
}

export function assertDatabaseFits(bytes: number): void {
  if (bytes > rtdbLimits.databaseBytes)
    throw new RtdbFailure(413, `A database has at most ${rtdbLimits.databaseBytes} bytes`)
}
