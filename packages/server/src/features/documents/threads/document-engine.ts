import * as Y from 'yjs'
import { compactState } from './compact-state.ts'
import { neededVector } from './needed-vector.ts'
import { assertFlat } from './nested-types.ts'
import { isReadable } from './readable-update.ts'
import { restoringUpdate } from './restoring-update.ts'
import { splitUpdate } from './split-update.ts'
import type { Applied, EngineAnswer, EngineRequest, UpdateOutcome } from './worker-messages.ts'

/** The documents of a thread, where alone bytes of clients are parsed. */
export class DocumentEngine {
  // Bound: the documents that the process has open.
  readonly #docs = new Map<number, Y.Doc>()

  answer(request: EngineRequest): EngineAnswer {
    switch (request.kind) {
      case 'open':
        return this.#open(request.doc, request.pieces)
      case 'apply':
        return apply(this.#get(request.doc), request.updates, request.room)
      case 'diff':
        return diff(this.#get(request.doc), request.stateVector)
      case 'vector':
        return Y.encodeStateVector(this.#get(request.doc))
      case 'state':
        return Y.encodeStateAsUpdate(this.#get(request.doc))
      case 'compact':
        return compactState(this.#get(request.doc))
      case 'restore':
        return isReadable(request.past) ? restoringUpdate(this.#get(request.doc), request.past) : undefined
      case 'close':
        this.#docs.get(request.doc)?.destroy()
        this.#docs.delete(request.doc)
        return undefined
    }
  }

  #open(number: number, pieces: readonly Uint8Array[]): { readonly damaged: readonly number[] } {
    const damaged: number[] = []
    const doc = load(pieces, damaged)
    this.#docs.get(number)?.destroy()
    this.#docs.set(number, doc)
    return { damaged }
  }

  #get(number: number): Y.Doc {
    const doc = this.#docs.get(number)
    if (!doc) throw new Error('the document is not open here')
    return doc
  }
}

/** Builds a document from its stored pieces. They were checked when they came; a check would take as long as applying them.
 * Pieces that cannot be applied are left out. */
function load(pieces: readonly Uint8Array[], damaged: number[]): Y.Doc {
  const doc = new Y.Doc()
  for (const [at, piece] of pieces.entries()) {
    if (damaged.includes(at)) continue
    try {
      Y.applyUpdate(doc, piece)
    } catch {
      damaged.push(at)
      doc.destroy()
      return load(pieces, damaged)
    }
  }
  return doc
}

function apply(doc: Y.Doc, updates: readonly Uint8Array[], room: number): Applied {
  const outcomes: UpdateOutcome[] = []
  const taken: Uint8Array[] = []
  let left = room
  for (const [at, sent] of updates.entries()) {
    const update = isReadable(sent) ? fitting(doc, sent, left) : 'malformed'
    if (typeof update === 'string') {
      outcomes.push(update)
      continue
    }
    try {
      const isNew = changes(doc, update)
      outcomes.push(isNew ? 'new' : 'known')
      if (!isNew) continue
      left -= update.length
      taken.push(update)
    } catch {
      return { outcomes, merged: undefined, brokenAt: at }
    }
  }
  return { outcomes, merged: merge(taken), brokenAt: undefined }
}

function merge(updates: readonly Uint8Array[]): Uint8Array | undefined {
  return updates.length > 1 ? Y.mergeUpdates([...updates]) : updates[0]
}

/** The update, or only its new part where the whole is larger than `room`. */
function fitting(doc: Y.Doc, update: Uint8Array, room: number): Uint8Array | 'full' | 'known' {
  if (update.length <= room) return update
  if (Y.snapshotContainsUpdate(Y.snapshot(doc), update)) return 'known'
  const news = Y.diffUpdate(update, Y.encodeStateVector(doc))
  return news.length <= room ? news : 'full'
}

// An update without structs and deletions.
const nothingBytes = 2

/** Applies an update, or throws and leaves the document half changed. Answers whether the document or its pending updates
 * changed. */
function changes(doc: Y.Doc, update: Uint8Array): boolean {
  if (update.length <= nothingBytes) return false
  // NOTE: compared by its bytes, since the library changes the object in place.
  const pendingStructs = doc.store.pendingStructs?.update
  const { pendingDs } = doc.store
  let hasChanged = false
  const note = (_update: Uint8Array, _origin: unknown, _doc: Y.Doc, transaction: Y.Transaction) => {
    hasChanged = true
    assertFlat(transaction)
  }
  doc.on('update', note)
  try {
    Y.applyUpdate(doc, update)
  } finally {
    doc.off('update', note)
  }
  return (
    hasChanged ||
    !isSame(pendingStructs, doc.store.pendingStructs?.update) ||
    !isSame(pendingDs, doc.store.pendingDs)
  )
}

function isSame(one: Uint8Array | null | undefined, other: Uint8Array | null | undefined): boolean {
  if (!one || !other) return !one && !other
  return Buffer.compare(one, other) === 0
}

// Eight seconds at 64 kB/s.
const pieceBytes = 512 * 1024

function diff(doc: Y.Doc, stateVector: Uint8Array): Uint8Array[] | undefined {
  try {
    return splitUpdate(Y.encodeStateAsUpdate(doc, neededVector(doc, stateVector)), pieceBytes)
  } catch {
    return undefined
  }
}
