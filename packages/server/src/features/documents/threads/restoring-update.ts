import * as Y from 'yjs'

/** The update that makes a document what it was: everything since then is undone on a copy of the past. Nothing is
 * lost by it: it is one more change. Undefined when nothing is different. */
export function restoringUpdate(doc: Y.Doc, past: Uint8Array): Uint8Array | undefined {
  const copy = new Y.Doc({ gc: false })
  try {
    Y.applyUpdate(copy, past)
    const present = Y.encodeStateAsUpdate(doc, Y.encodeStateVector(copy))
    const undo = new Y.UndoManager(copy, {
      trackedOrigins: new Set([copy]),
      ignoreRemoteMapChanges: true,
    })
    Y.applyUpdate(copy, present, copy)
    const before = Y.encodeStateVector(copy)
    let hasChanged = false
    copy.on('update', () => {
      hasChanged = true
    })
    undo.undo()
    return hasChanged ? Y.encodeStateAsUpdate(copy, before) : undefined
  } finally {
    copy.destroy()
  }
}
