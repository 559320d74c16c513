import * as Y from 'yjs'
import { isReadable } from './readable-update.ts'
import { restoringUpdate } from './restoring-update.ts'
import type { Applied, EngineAnswer, EngineRequest, UpdateOutcome } from './worker-messages.ts'

/** The documents of a thread. It runs in a thread of its own: what it reads was sent by strangers. */
export class DocumentEngine {
  // Bound: the documents that are open on the other side.
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

/** What was stored was looked at when it came: this would take as long as applying it. A piece that cannot be applied is left
 * out of another document that is made from the rest. */
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
    const update = isReadable(sent) ? fitting(doc, sent, left) : undefined
    if (update === undefined || update === 'full') {
      outcomes.push(update ?? 'malformed')
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

/** The update, or what is new in it where all of it has no room. */
function fitting(doc: Y.Doc, update: Uint8Array, room: number): Uint8Array | 'full' {
  if (update.length <= room) return update
  const news = Y.diffUpdate(update, Y.encodeStateVector(doc))
  return news.length <= room ? news : 'full'
}

// An update without structs and deletions.
const nothingBytes = 2

/** Applies an update; whether the document, or what waits for its predecessors, is another one now. */
function changes(doc: Y.Doc, update: Uint8Array): boolean {
  if (update.length <= nothingBytes) return false
  // NOTE: of its bytes: the library changes the object in place.
  const pendingStructs = doc.store.pendingStructs?.update
  const { pendingDs } = doc.store
  let hasChanged = false
  const note = () => {
    hasChanged = true
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

function diff(doc: Y.Doc, stateVector: Uint8Array): Uint8Array | undefined {
  try {
    return Y.encodeStateAsUpdate(doc, stateVector)
  } catch {
    return undefined
  }
}
